import type { Alarm } from "@sluice/core/internal";
import type { LimitedTopic } from "../limits/topic-limits.ts";
import type { DispatchLevel } from "./dispatch-level.ts";

/** A consumer as its backend describes it. */
export interface DispatchFacts {
  /** Any form of the topic's name. */
  readonly topic: string;
  readonly subscription: string;
  /** Passes on permits that were granted; called by the driver of the desk. */
  readonly pass: (permits: number) => void;
  /**
   * Takes back up to so many permits that were passed on and are not used; answers how many. Undefined
   * where permits cannot be taken back: of a broker behind a relay.
   */
  readonly withdraw?: ((permitsMost: number) => number) | undefined;
}

/** Size of a message that is expected before the first has come. */
const BYTES_PER_MESSAGE = 1_024;

/** The weight of the last delivery in what is expected of the next. */
const LAST_PART = 1 / 8;

/**
 * The permits of one consumer. Only the desk changes it.
 *
 * `asked` permits of the client wait here; `granted` were passed on and are not used. `granted` is below
 * zero after an entry with more messages than permits. For `backed` of them tokens are `reserved` at each
 * level: `backed + entryMessages − 1`, because the last permit may bring a whole batch.
 */
export class DispatchConsumer implements Alarm {
  readonly topic: LimitedTopic;
  readonly subscription: string;
  /** Of the subscription, for its counts. */
  readonly key: string;
  readonly pass: (permits: number) => void;
  readonly withdraw: ((permitsMost: number) => number) | undefined;
  asked = 0;
  granted = 0;
  backed = 0;
  reserved = 0;
  reservedBytes = 0;
  /** Messages of the largest entry that it was delivered of late. */
  entryMessages = 1;
  /** Whether it has used its last permits. Until then it holds one, a probe. */
  isProven = false;
  isClosed = false;
  /** Of the limits that `levels` come from. */
  version = -1;
  levels: readonly DispatchLevel[] = NO_LEVELS;
  /** Sum of the levels' revisions when its permits were last looked at. */
  revision = 0;
  /** By level: the turn at which it may have its next one. */
  finish: number[] = [];
  /** The index of the level whose turns it waits for; -1 if it does not wait. */
  at = -1;
  /** In the turns of that level: its turn. */
  dueMs = 0;
  place: number | undefined;
  /** When it was last granted a permit or used one. */
  usedAtMs = 0;
  bytesPerMessage: number = BYTES_PER_MESSAGE;

  constructor(topic: LimitedTopic, { subscription, pass, withdraw }: DispatchFacts) {
    this.topic = topic;
    this.subscription = subscription;
    this.key = subscriptionKey(topic.key, subscription);
    this.pass = pass;
    this.withdraw = withdraw;
  }

  /** Tokens that must be there before it is passed a permit. */
  get need(): number {
    return this.backed > 0 ? 1 : this.entryMessages;
  }

  /** The most permits that it may hold. */
  get holdMax(): number {
    if (!this.isProven) return 1;
    let most = Infinity;
    for (const level of this.levels) most = Math.min(most, level.holdMax(this.bytesPerMessage));
    return most;
  }

  /** Whether it is to be passed more permits: at half of what it may hold. */
  get isWanting(): boolean {
    return this.asked > 0 && this.granted <= this.holdMax / 2 && this.granted < this.holdMax;
  }

  /** Reserves tokens at all levels for permits that are passed on. */
  back(permits: number, tokens: number, nowMs: number): void {
    const bytes = tokens * this.bytesPerMessage;
    this.backed += permits;
    this.reserved += tokens;
    this.reservedBytes += bytes;
    this.usedAtMs = nowMs;
    for (const [index, level] of this.levels.entries()) {
      level.reserve(tokens, bytes);
      level.turns.advance(this, index, permits);
      (this.isProven ? level.holders : level.probes).add(this);
    }
  }

  /** So many of its permits have no tokens reserved any more: they are used, taken back, or lapsed. */
  unback(permits: number): void {
    if (permits === 0) return;
    this.backed -= permits;
    const { backed, entryMessages, reserved, reservedBytes } = this;
    const left = backed === 0 ? 0 : Math.min(reserved, backed + entryMessages - 1);
    const leftBytes = Math.floor((reservedBytes * left) / reserved);
    this.reserved = left;
    this.reservedBytes = leftBytes;
    for (const level of this.levels) {
      level.unreserve(reserved - left, reservedBytes - leftBytes);
      if (backed > 0) continue;
      level.holders.delete(this);
      level.probes.delete(this);
    }
  }

  measure({ messages, bytes, largest }: Delivered): void {
    if (messages <= 0) return;
    const sizes = bytes / messages - this.bytesPerMessage;
    this.bytesPerMessage = Math.max(1, Math.ceil(this.bytesPerMessage + LAST_PART * sizes));
    this.entryMessages = decayed(this.entryMessages, largest);
    const [nearest] = this.levels;
    if (nearest !== undefined && nearest.kind !== "broker")
      nearest.entryMessages = decayed(nearest.entryMessages, largest);
  }
}

/** Entries that a client was sent at once. */
export interface Delivered {
  readonly messages: number;
  readonly bytes: number;
  /** Messages of the largest entry among them. */
  readonly largest: number;
}

/** Rises at once, falls slowly. */
function decayed(before: number, last: number): number {
  return last >= before ? last : Math.floor(before - LAST_PART * (before - last));
}

export const NO_LEVELS: readonly DispatchLevel[] = [];

/** No name of a topic has a blank. */
export function subscriptionKey(topic: string, subscription: string): string {
  return `${topic} ${subscription}`;
}
