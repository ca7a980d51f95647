import { Grant } from "@sluice/core/internal";

interface Part {
  readonly grant: Grant;
  count: number;
}

/** Tokens that were taken from a limit and are not used yet. */
export class SavedTokens {
  #parts: Part[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(grant: Grant): void {
    this.#parts.push({ grant, count: grant.count });
    this.#count += grant.count;
  }

  /**
   * Takes `count` tokens, the oldest first; at most as many as are there. They go back through one grant, and `onBack`
   * is told how many.
   */
  take(count: number, onBack: (count: number) => void): Grant {
    const taken: Part[] = [];
    const total = Math.min(count, this.#count);
    let missing = total;
    this.#count -= total;
    while (missing > 0) {
      const [oldest] = this.#parts;
      if (oldest === undefined) break;
      const part = Math.min(oldest.count, missing);
      missing -= part;
      if (oldest.count === part) taken.push(this.#parts.shift() as Part);
      else {
        oldest.count -= part;
        taken.push({ grant: oldest.grant, count: part });
      }
    }
    return new Grant(total, undefined, (tokens, kind) => {
      onBack(tokens);
      let left = tokens;
      for (const part of taken) {
        const back = Math.min(left, part.count);
        part.count -= back;
        left -= back;
        part.grant.deposit({ [kind]: back });
      }
    });
  }

  /** Gives back the oldest tokens beyond `countMax`. */
  keep(countMax: number): void {
    const surplus = this.#count - countMax;
    if (surplus > 0) this.take(surplus, () => {}).deposit(surplus);
  }
}
