import type { Figures } from "../run-cases.ts";

/** What every round found, by case. */
export class Results {
  readonly #rounds: ReadonlyMap<string, readonly Figures[]>;

  constructor(rounds: ReadonlyMap<string, readonly Figures[]>) {
    this.#rounds = rounds;
  }

  /** One figure of a case, round by round. */
  figure(id: string, name: string): readonly number[] {
    const rounds = this.#rounds.get(id) ?? [];
    return rounds.map((figures) => {
      const value = figures[name];
      if (value === undefined) throw new Error(`${id} has no figure ${name}`);
      return value;
    });
  }

  /** How a case compares with a yardstick that ran in the same process. */
  ratio(id: string, yardstick: string): readonly number[] {
    const yardsticks = this.figure(id, yardstick);
    return this.figure(id, "case").map((value, round) => value / (yardsticks[round] as number));
  }

  /** How a case compares with the fastest of others that ran in the same round. */
  ratioToFastest(id: string, others: readonly string[]): readonly number[] {
    const rivals = others.map((other) => this.figure(other, "case"));
    return this.figure(id, "case").map((value, round) => {
      return value / Math.max(...rivals.map((rival) => rival[round] as number));
    });
  }
}
