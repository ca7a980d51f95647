import type { KeyRange } from "./dispatch/key-shared/key-assignment.ts";

/** Permits beyond this add nothing: no client can hold so many messages. */
const PERMITS_MAX = 2 ** 31 - 1;

export interface ConsumerOptions {
  readonly name: string;
  /** Lower goes first. */
  readonly priorityLevel: number;
  /** Messages it may have that are not acknowledged; only shared subscriptions count them. */
  readonly unackedMax: number;
  /** Hashes of keys that a sticky consumer of a Key_Shared subscription wants. */
  readonly keyRanges?: readonly KeyRange[] | undefined;
}

/** One consumer as its subscription sees it: what it may still be given. */
export class Consumer {
  readonly name: string;
  readonly priorityLevel: number;
  readonly unackedMax: number;
  readonly keyRanges: readonly KeyRange[] | undefined;
  #permits = 0;
  #unacked = 0;
  #heldEntries = 0;
  #isPaused = false;

  constructor({ name, priorityLevel, unackedMax, keyRanges }: ConsumerOptions) {
    this.keyRanges = keyRanges;
    this.name = name;
    this.priorityLevel = priorityLevel;
    this.unackedMax = unackedMax;
  }

  /** Messages; below zero if the last entry brought more than were asked for. */
  get permits(): number {
    return this.#permits;
  }

  get unacked(): number {
    return this.#unacked;
  }

  /** Entries of shared subscriptions that it has and has not acknowledged. */
  get heldEntries(): number {
    return this.#heldEntries;
  }

  get canTake(): boolean {
    return this.#permits > 0 && !this.#isPaused && this.#unacked < this.unackedMax;
  }

  addPermits(messages: number): void {
    this.#permits = Math.min(PERMITS_MAX, this.#permits + messages);
  }

  /** Takes back up to so many of them; answers how many. */
  withdrawPermits(most: number): number {
    const taken = Math.min(most, Math.max(0, this.#permits));
    this.#permits -= taken;
    return taken;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  take(messages: number): void {
    this.#permits -= messages;
  }

  /** It was given an entry with so many messages. */
  hold(messages: number): void {
    this.#heldEntries++;
    this.#unacked += messages;
  }

  /** It no longer has such an entry. */
  release(messages: number): void {
    this.#heldEntries--;
    this.#unacked -= messages;
  }
}
