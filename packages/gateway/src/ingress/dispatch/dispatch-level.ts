import { SECOND_MS } from "@sluice/core/internal";
import type { Alarm } from "@sluice/core/internal";
import type { DispatchConsumer } from "./dispatch-consumer.ts";
import type { DispatchRate } from "./dispatch-rate.ts";
import { DispatchTurns } from "./dispatch-turns.ts";
import { ReservedBucket } from "./reserved-bucket.ts";

export type DispatchLevelKind = "subscription" | "topic" | "broker";

/** The largest entry that is delivered at once. */
const DELIVERY_MAX = { messages: 100_000, bytes: 16 * 1024 * 1024 };

/**
 * The time, ms, whose tokens one consumer may hold reserved. Raised, a consumer that stops keeps more
 * tokens from others until they are taken back; lowered, permits are passed on in smaller parts.
 */
const HOLD_MS = 100;

/** The time, ms, whose tokens are one turn at least: bounds the turns of a second to 1,000 a level. */
const QUANTUM_MS = 1;

/** The part of the capacity that consumers which have not used their last permits may hold together. */
const PROBE_PART = 1 / 2;

/**
 * One limit of deliveries: of a subscription, a topic, or the broker; with the consumers that wait for
 * it and those that hold permits of it.
 */
export class DispatchLevel implements Alarm {
  readonly kind: DispatchLevelKind;
  readonly turns: DispatchTurns = new DispatchTurns();
  /** When its turns are to be looked at. */
  dueMs = 0;
  place: number | undefined;
  /** Consumers that have this level. */
  users = 0;
  /** Counts the changes of its rate. */
  revision = 0;
  /** Consumers that hold one permit which they have not used, the oldest first. */
  readonly probes: Set<DispatchConsumer> = new Set();
  /** The others that hold permits. */
  readonly holders: Set<DispatchConsumer> = new Set();
  /** Before this, no permits are taken back. */
  nextReclaimMs: number = -Infinity;
  /** Messages of the largest entry that was delivered of late: what new consumers may expect. */
  entryMessages = 1;
  #rate: DispatchRate = {};
  #messages: ReservedBucket | undefined;
  #bytes: ReservedBucket | undefined;
  #reservedMessages = 0;
  #reservedBytes = 0;

  constructor(kind: DispatchLevelKind) {
    this.kind = kind;
  }

  get rate(): DispatchRate {
    return this.#rate;
  }

  get isLimited(): boolean {
    return this.#messages !== undefined || this.#bytes !== undefined;
  }

  get limitsBytes(): boolean {
    return this.#bytes !== undefined;
  }

  /** A bucket that is new starts full; one that was there keeps its balance. */
  setRate(rate: DispatchRate, nowMs: number): void {
    const { messages, bytes, periodMs = SECOND_MS } = rate;
    this.#rate = rate;
    this.revision++;
    this.#messages = changed(this.#messages, this.#reservedMessages, nowMs, {
      rate: messages,
      periodMs,
      deliveryMax: DELIVERY_MAX.messages,
    });
    this.#bytes = changed(this.#bytes, this.#reservedBytes, nowMs, {
      rate: bytes,
      periodMs,
      deliveryMax: DELIVERY_MAX.bytes,
    });
  }

  /** The most permits that one consumer may hold. */
  holdMax(bytesPerMessage: number): number {
    const messages = this.#messages?.tokensIn(HOLD_MS) ?? Infinity;
    const bytes = this.#bytes?.tokensIn(HOLD_MS) ?? Infinity;
    return Math.max(1, Math.floor(Math.min(messages, bytes / bytesPerMessage)));
  }

  /** Permits of one turn while others wait, so that thousands of turns a second are enough. */
  get quantum(): number {
    return this.#messages?.tokensIn(QUANTUM_MS) ?? 1;
  }

  /** Messages that could be reserved now. */
  room(bytesPerMessage: number, nowMs: number): number {
    const messages = this.#messages?.room(nowMs) ?? Infinity;
    if (messages < 1 || this.#bytes === undefined) return messages;
    const bytes = this.#bytes.room(nowMs);
    if (bytes < 1) return 0;
    return Math.min(messages, Math.max(1, Math.floor(bytes / bytesPerMessage)));
  }

  /** Whether one more consumer may hold a permit that it may not use. */
  get mayProbe(): boolean {
    const least = Math.min(this.#messages?.capacity ?? Infinity, this.#bytes?.capacity ?? Infinity);
    return this.probes.size < Math.max(1, Math.floor(least * PROBE_PART));
  }

  hasRoomFor({ isProven, bytesPerMessage, need }: DispatchConsumer, nowMs: number): boolean {
    if (!isProven && !this.mayProbe) return false;
    const most = Math.min(
      this.#messages?.capacity ?? Infinity,
      (this.#bytes?.capacity ?? Infinity) / bytesPerMessage,
    );
    return this.room(bytesPerMessage, nowMs) >= Math.min(need, Math.max(1, Math.floor(most)));
  }

  /** What is missing for a consumer. */
  missing({ need, bytesPerMessage }: DispatchConsumer, nowMs: number): "Msg" | "Bytes" | undefined {
    if ((this.#messages?.pauseMs(need, nowMs) ?? 0) > 0) return "Msg";
    return (this.#bytes?.pauseMs(need * bytesPerMessage, nowMs) ?? 0) > 0 ? "Bytes" : undefined;
  }

  /** Whether permits that others hold must be taken back before there is room for a consumer. */
  isCrowdedFor({ need, bytesPerMessage }: DispatchConsumer): boolean {
    return (
      this.#messages?.isCrowded(need) === true ||
      this.#bytes?.isCrowded(need * bytesPerMessage) === true
    );
  }

  reserve(messages: number, bytes: number): void {
    this.#reservedMessages += messages;
    this.#reservedBytes += bytes;
    this.#messages?.reserve(messages);
    this.#bytes?.reserve(bytes);
  }

  unreserve(messages: number, bytes: number): void {
    this.#reservedMessages -= messages;
    this.#reservedBytes -= bytes;
    this.#messages?.unreserve(messages);
    this.#bytes?.unreserve(bytes);
  }

  /** Takes what was delivered, into debt if necessary. */
  charge(messages: number, bytes: number, nowMs: number): void {
    this.#messages?.charge(messages, nowMs);
    this.#bytes?.charge(bytes, nowMs);
  }

  /** Milliseconds until there is room for a consumer; Infinity if reservations must end first. */
  pauseMs({ need, bytesPerMessage }: DispatchConsumer, nowMs: number): number {
    return Math.max(
      this.#messages?.pauseMs(need, nowMs) ?? 0,
      this.#bytes?.pauseMs(need * bytesPerMessage, nowMs) ?? 0,
    );
  }

  /** Whether nothing would change if this level were made anew. */
  isFresh(nowMs: number): boolean {
    return (
      this.users === 0 &&
      (this.#messages?.isFull(nowMs) ?? true) &&
      (this.#bytes?.isFull(nowMs) ?? true)
    );
  }
}

function changed(
  bucket: ReservedBucket | undefined,
  reserved: number,
  nowMs: number,
  { rate, ...rest }: { rate: number | undefined; periodMs: number; deliveryMax: number },
): ReservedBucket | undefined {
  if (rate === undefined) return undefined;
  if (bucket !== undefined) {
    bucket.setRate({ rate, ...rest }, nowMs);
    return bucket;
  }
  const made = new ReservedBucket({ rate, ...rest }, nowMs);
  made.reserve(reserved);
  return made;
}
