import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
import type { Consumer } from "./consumer.ts";

/** An entry that a consumer has and has not acknowledged. */
export interface Held {
  readonly position: Position;
  readonly consumer: Consumer;
  readonly messageCount: number;
  readonly redeliveryCount: number;
  /** Of a Key_Shared subscription. */
  readonly keyHash?: number;
}

/** All entries that consumers have. By ledger, so that a position is found without making a key. */
export class Outstanding {
  readonly #ledgers = new Map<number, Map<number, Held>>();
  #messages = 0;

  /** In all entries together. */
  get messages(): number {
    return this.#messages;
  }

  get({ ledgerId, entryId }: Position): Held | undefined {
    return this.#ledgers.get(ledgerId)?.get(entryId);
  }

  add(held: Held): void {
    const { ledgerId, entryId } = held.position;
    const ledger = this.#ledgers.get(ledgerId);
    if (ledger === undefined) this.#ledgers.set(ledgerId, new Map([[entryId, held]]));
    else ledger.set(entryId, held);
    this.#messages += held.messageCount;
    held.consumer.hold(held.messageCount);
  }

  remove({ ledgerId, entryId }: Position): Held | undefined {
    const ledger = this.#ledgers.get(ledgerId);
    const held = ledger?.get(entryId);
    if (ledger === undefined || held === undefined) return undefined;
    ledger.delete(entryId);
    if (ledger.size === 0) this.#ledgers.delete(ledgerId);
    this.#messages -= held.messageCount;
    held.consumer.release(held.messageCount);
    return held;
  }

  /** Positions before one. */
  before(position: Position): readonly Position[] {
    const found: Position[] = [];
    for (const ledger of this.#ledgers.values())
      for (const held of ledger.values())
        if (comparePositions(held.position, position) < 0) found.push(held.position);
    return found;
  }

  /** What one consumer has, in the order in which it got it. */
  of(consumer: Consumer): readonly Position[] {
    const all: Position[] = [];
    for (const ledger of this.#ledgers.values())
      for (const held of ledger.values()) if (held.consumer === consumer) all.push(held.position);
    return all;
  }
}
