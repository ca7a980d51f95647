import type { Position } from "../../storage/position.ts";
import type { Consumer } from "../consumer.ts";

/** An entry that a consumer has and has not acknowledged. */
export interface Held {
  readonly position: Position;
  readonly consumer: Consumer;
  readonly messageCount: number;
  readonly redeliveryCount: number;
  /** Of a Key_Shared subscription. */
  readonly keyHash?: number;
}

/** Entries that one step of a walk looks at, and those that it takes: some 0.5 ms of work. */
const LOOKED_AT_MAX = 5_000;
const TAKEN_MAX = 1_000;

/**
 * All entries that consumers have. By ledger, so that a position is found without making a key.
 *
 * When a consumer leaves or asks for all its entries again, they are taken out by a walk through all
 * entries, some at a time, because there may be 200,000. No entry may be added before the walk is over.
 */
export class Outstanding {
  readonly #ledgers = new Map<number, Map<number, Held>>();
  #messages = 0;
  #length = 0;
  #walk: Iterator<Held> | undefined;
  /** Consumers whose entries this walk takes out, and those for the next walk. */
  #returning: ReadonlySet<Consumer> = new Set();
  #nextReturning = new Set<Consumer>();
  /** Whether the walk, and the next one, take out what was acknowledged by a skip. */
  #takesAcked = false;
  #nextTakesAcked = false;

  /** Entries. */
  get length(): number {
    return this.#length;
  }

  /** In all entries together. */
  get messages(): number {
    return this.#messages;
  }

  /** Whether entries are to be taken out by `takeReturned`. */
  get isReturning(): boolean {
    return this.#walk !== undefined || this.#nextTakesAcked || this.#nextReturning.size > 0;
  }

  get({ ledgerId, entryId }: Position): Held | undefined {
    return this.#ledgers.get(ledgerId)?.get(entryId);
  }

  add(held: Held): void {
    const { ledgerId, entryId } = held.position;
    const ledger = this.#ledgers.get(ledgerId);
    if (ledger === undefined) this.#ledgers.set(ledgerId, new Map([[entryId, held]]));
    else ledger.set(entryId, held);
    this.#length++;
    this.#messages += held.messageCount;
    held.consumer.hold(held.messageCount);
  }

  remove({ ledgerId, entryId }: Position): Held | undefined {
    const ledger = this.#ledgers.get(ledgerId);
    const held = ledger?.get(entryId);
    if (ledger === undefined || held === undefined) return undefined;
    ledger.delete(entryId);
    if (ledger.size === 0) this.#ledgers.delete(ledgerId);
    this.#length--;
    this.#messages -= held.messageCount;
    held.consumer.release(held.messageCount);
    return held;
  }

  /** All that a consumer has is to be taken out. */
  returnAll(consumer: Consumer): void {
    if (consumer.heldEntries > 0) this.#nextReturning.add(consumer);
  }

  /** Entries may have been acknowledged without a call of `remove`: they are to be taken out. */
  returnAcked(): void {
    this.#nextTakesAcked ||= this.#ledgers.size > 0;
  }

  /** Takes out some of the entries that are to be, in the order in which consumers got them. */
  takeReturned(isAcked: (position: Position) => boolean): readonly Held[] {
    if (!this.isReturning) return [];
    const walk = this.#walk ?? this.#beginWalk();
    const taken: Held[] = [];
    for (let count = 0; count < LOOKED_AT_MAX && taken.length < TAKEN_MAX; count++) {
      const next = walk.next();
      if (next.done === true) {
        this.#walk = undefined;
        break;
      }
      const held = next.value;
      const isTaken =
        this.#returning.has(held.consumer) || (this.#takesAcked && isAcked(held.position));
      if (isTaken) taken.push(held);
    }
    for (const { position } of taken) this.remove(position);
    const isOver = [...this.#returning].every(({ heldEntries }) => heldEntries === 0);
    if (isOver && !this.#takesAcked) this.#walk = undefined;
    return taken;
  }

  #beginWalk(): Iterator<Held> {
    this.#returning = this.#nextReturning;
    this.#nextReturning = new Set();
    this.#takesAcked = this.#nextTakesAcked;
    this.#nextTakesAcked = false;
    this.#walk = this.#all();
    return this.#walk;
  }

  *#all(): Generator<Held, undefined> {
    for (const ledger of this.#ledgers.values()) yield* ledger.values();
    return undefined;
  }
}
