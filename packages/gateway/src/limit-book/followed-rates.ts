import { ConfigError } from "@sluice/core";
import type { RateOf } from "./dispatch-policies.ts";

/** Rates that can be set while the process runs. */
export interface SettableRates<Target, Rate> {
  get(target: Target): Rate | undefined;
  set(target: Target, rate: Rate, nowMs: number): void;
  unset(target: Target, nowMs: number): void;
  list(): readonly RateOf<Target, Rate>[];
}

/**
 * Rates that follow the policies of namespaces: a policy holds before the rate that the process was started
 * with; when it is removed, the one of the start holds again.
 */
export class FollowedRates<Target, Rate extends object> {
  readonly #rates: SettableRates<Target, Rate>;
  readonly #keyOf: (target: Target) => string;
  readonly #atStart: ReadonlyMap<string, Rate>;
  /** Keys of the policies that hold. */
  readonly #policies = new Set<string>();
  /** The policies that hold, by owner and key. */
  readonly #stored = new Map<string, ReadonlyMap<string, RateOf<Target, Rate>>>();
  /** Stored rates that cannot be applied, by key: `onUnapplied` hears of each once. */
  readonly #unapplied = new Set<string>();
  readonly #onUnapplied: (target: Target, cause: ConfigError) => void;

  /** `onUnapplied` hears of a stored rate that is refused, which is left out: the process starts all the same. */
  constructor(
    rates: SettableRates<Target, Rate>,
    keyOf: (target: Target) => string,
    onUnapplied: (target: Target, cause: ConfigError) => void,
  ) {
    this.#rates = rates;
    this.#keyOf = keyOf;
    this.#onUnapplied = onUnapplied;
    this.#atStart = new Map(rates.list().map(({ target, rate }) => [keyOf(target), rate]));
  }

  /** The policies of a namespace, or of another owner, are these. Answers what has changed. */
  follow(
    owner: string,
    policies: readonly RateOf<Target, Rate>[],
    nowMs: number,
  ): readonly ChangedRate<Target, Rate>[] {
    const former = this.#stored.get(owner) ?? new Map<string, RateOf<Target, Rate>>();
    const wanted = new Map(policies.map((one) => [this.#keyOf(one.target), one]));
    if (wanted.size === 0) this.#stored.delete(owner);
    else this.#stored.set(owner, wanted);
    for (const key of former.keys()) this.#policies.delete(key);
    for (const key of wanted.keys()) this.#policies.add(key);
    const gone = [...former].filter(([key]) => !wanted.has(key)).map(([, { target }]) => target);
    return [
      ...gone.flatMap((target) => this.#apply(target, undefined, nowMs)),
      ...policies.flatMap(({ target, rate }) => this.#apply(target, rate, nowMs)),
    ];
  }

  /** Whether it was set while the process ran. */
  isStored(target: Target): boolean {
    return this.#policies.has(this.#keyOf(target));
  }

  #apply(
    target: Target,
    stored: Rate | undefined,
    nowMs: number,
  ): readonly ChangedRate<Target, Rate>[] {
    const to = stored ?? this.#atStart.get(this.#keyOf(target));
    const from = this.#rates.get(target);
    if (isSameRate(from, to)) return [];
    if (to === undefined) this.#rates.unset(target, nowMs);
    else if (!this.#attempt(target, () => this.#rates.set(target, to, nowMs))) return [];
    return [{ target, from, to }];
  }

  #attempt(target: Target, change: () => void): boolean {
    const key = this.#keyOf(target);
    try {
      change();
      this.#unapplied.delete(key);
      return true;
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause;
      if (!this.#unapplied.has(key)) this.#onUnapplied(target, cause);
      this.#unapplied.add(key);
      return false;
    }
  }
}

export interface ChangedRate<Target, Rate> {
  readonly target: Target;
  readonly from: Rate | undefined;
  readonly to: Rate | undefined;
}

/** Rates are flat. */
export function isSameRate(a: object | undefined, b: object | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const [x, y] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return [...x.keys(), ...y.keys()].every((key) => x.get(key) === y.get(key));
}
