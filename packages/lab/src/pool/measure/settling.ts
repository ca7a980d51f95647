/** When the pool was settled, and when not. */
export class Settling {
  readonly #changes: { readonly atMs: number; readonly isSettled: boolean }[] = [];

  note(atMs: number, isSettled: boolean): void {
    const last = this.#changes.at(-1);
    if (last?.isSettled === isSettled) return;
    // The last of several at one instant counts.
    if (last?.atMs === atMs) this.#changes.pop();
    if (this.#changes.at(-1)?.isSettled !== isSettled) this.#changes.push({ atMs, isSettled });
  }

  /**
   * The time from `fromMs` until the pool was settled and stayed so until `untilMs`; undefined if it
   * was not settled at `untilMs`.
   */
  afterMs(fromMs: number, untilMs: number): number | undefined {
    const last = this.#changes.findLast(({ atMs }) => atMs < untilMs);
    if (last === undefined || !last.isSettled) return undefined;
    return Math.max(0, last.atMs - fromMs);
  }
}
