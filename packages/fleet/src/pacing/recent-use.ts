/** Slots of one second and one more, so that any sliding second lies within. */
const SLOTS = 101;
/**
 * Length of a slot, ms. Raised, uses are summed over up to that much more than a second, and deposits can
 * be taken again later; lowered, there are more slots to keep. 10 makes that a hundredth.
 */
export const SLOT_MS = 10;

/** Tokens taken less those deposited within the last second, by the slot in which they were taken. */
export class RecentUse {
  readonly #slots = new Float64Array(SLOTS);
  #slot = 0;
  /** Slots by which the clock stepped back so far. */
  #shift = 0;
  #sum = 0;

  get sum(): number {
    return this.#sum;
  }

  /** The number of the present slot; it never decreases. */
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
