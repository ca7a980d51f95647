/** An instant at which something is due. An alarm is in one heap at most. */
export interface Alarm {
  readonly dueMs: number;
  /** Its index in the heap, set by the heap; undefined outside of one. */
  place: number | undefined;
}

/** Alarms by their instant, as a binary heap: reading the first takes constant time, adding and removing log n. */
export class AlarmHeap<A extends Alarm> {
  readonly #alarms: A[] = [];

  get size(): number {
    return this.#alarms.length;
  }

  get first(): A | undefined {
    return this.#alarms[0];
  }

  add(alarm: A): void {
    this.#rise(alarm, this.#alarms.length);
  }

  /** False if the alarm was in no heap. */
  remove(alarm: A): boolean {
    const place = alarm.place;
    if (place === undefined) return false;
    alarm.place = undefined;
    const last = this.#alarms.pop();
    if (last !== undefined && last !== alarm) this.#sink(last, place);
    return true;
  }

  #rise(alarm: A, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#alarms[above];
      if (parent === undefined || parent.dueMs <= alarm.dueMs) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(alarm, place);
  }

  #sink(alarm: A, from: number): void {
    let place = from;
    for (;;) {
      const left = this.#alarms[2 * place + 1];
      const right = this.#alarms[2 * place + 2];
      const child =
        right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
      if (child === undefined || child.dueMs >= alarm.dueMs) break;
      const below = child === left ? 2 * place + 1 : 2 * place + 2;
      this.#put(child, place);
      place = below;
    }
    // The alarm came from the end, which may be another branch: it may have to rise as well.
    this.#rise(alarm, place);
  }

  #put(alarm: A, place: number): void {
    this.#alarms[place] = alarm;
    alarm.place = place;
  }
}
