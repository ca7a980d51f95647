/** A second and one slot: any sliding second lies within. */
const SLOTS = 101;
export const SLOT_MS = 10;

/** Tokens that were used within about the last second, net of what came back, by when they were taken. */
export class RecentUse {
  readonly #slots = new Float64Array(SLOTS);
  #slot = 0;
  /** Makes up for times that stepped back. */
  #shift = 0;
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /** The present slot; they only count up. */
  get slot(): number {
    return this.#slot;
  }

  moveTo(atMs: number): void {
    const slot = Math.floor(atMs / SLOT_MS) + this.#shift;
    if (slot === this.#slot) return;
    if (slot < this.#slot) this.#shift += this.#slot - slot;
    else this.#forgetUntil(slot);
  }

  add(count: number): void {
    const index = this.#slot % SLOTS;
    this.#slots[index] = (this.#slots[index] ?? 0) + count;
    this.#sum += count;
  }

  /** False if what was taken in `slot` is forgotten already. */
  remove(slot: number, count: number): boolean {
    if (slot <= this.#slot - SLOTS) return false;
    const index = slot % SLOTS;
    this.#slots[index] = (this.#slots[index] ?? 0) - count;
    this.#sum -= count;
    return true;
  }

  #forgetUntil(slot: number): void {
    const first = Math.max(this.#slot + 1, slot - SLOTS + 1);
    for (let passing = first; passing <= slot; passing++) {
      const index = passing % SLOTS;
      this.#sum -= this.#slots[index] ?? 0;
      this.#slots[index] = 0;
    }
    this.#slot = slot;
  }
}
