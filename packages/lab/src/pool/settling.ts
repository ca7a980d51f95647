/** When the pool was as it should be, and when not. */
export class Settling {
  readonly #changes: { readonly atMs: number; readonly isSettled: boolean }[] = [];

  note(atMs: number, isSettled: boolean): void {
    const last = this.#changes.at(-1);
    if (last?.isSettled === isSettled) return;
    // Of several at one instant the last counts.
    if (last?.atMs === atMs) this.#changes.pop();
    if (this.#changes.at(-1)?.isSettled !== isSettled) this.#changes.push({ atMs, isSettled });
  }

  /**
   * How long after `fromMs` it was settled and stayed so until `untilMs`; undefined if it was not
   * in the end.
   */
  afterMs(fromMs: number, untilMs: number): number | undefined {
    const last = this.#changes.findLast(({ atMs }) => atMs < untilMs);
    if (last === undefined || !last.isSettled) return undefined;
    return Math.max(0, last.atMs - fromMs);
  }
}
