import type { Cost } from "@sluice/core";
import { LARGEST_COST } from "./largest-frame.ts";
import { LazyBucket } from "./lazy-bucket.ts";
import type { LevelTokens, MakeTokens } from "./level-tokens.ts";
import { Pace } from "./pace.ts";
import type { RateLimit } from "./rate-limit.ts";

export type LevelReason = "topic-rate" | "group-rate" | "broker-rate";

/**
 * One limit in messages and bytes that publishing is charged for: of a topic, a group, or the broker. Its
 * rates can change, come and go at any time; each bucket keeps its balance, debt included. A level
 * without rates has room for everything.
 *
 * Frames that have had their turn here and wait at another level hold a reservation, so that no other
 * frame takes their tokens; they are charged when they go.
 */
export class LimitLevel {
  /** "topic", "group analytics" or "broker". */
  readonly name: string;
  readonly reason: LevelReason;
  /** Flows that wait for this level; counted by the desk. */
  waiting = 0;
  /** What waits for this level; counted by the desk. */
  heldMessages = 0;
  heldBytes = 0;
  /** Until when producers were told to pause for this level, at the latest; set by the notices. */
  toldUntilMs: number = -Infinity;
  #limit: RateLimit = {};
  #messages: LevelTokens | undefined;
  #bytes: LevelTokens | undefined;
  #makeTokens: MakeTokens = () => undefined;
  #reservedMessages = 0;
  #reservedBytes = 0;
  /** Made when tokens are short for the first time. */
  #pace: Pace | undefined;

  constructor(name: string, reason: LevelReason) {
    this.name = name;
    this.reason = reason;
  }

  get limit(): RateLimit {
    return this.#limit;
  }

  get isLimited(): boolean {
    return this.#messages !== undefined || this.#bytes !== undefined;
  }

  /** A bucket that is new starts full; one that was there keeps its balance. */
  setLimit(limit: RateLimit, nowMs: number): void {
    this.#limit = limit;
    this.#messages = this.#changed("messages", this.#messages, nowMs);
    this.#bytes = this.#changed("bytes", this.#bytes, nowMs);
    if (!this.isLimited) this.#pace = undefined;
    this.#pace?.setLimit(limit, nowMs);
  }

  /** From now on tokens come from these sources. */
  setTokens(makeTokens: MakeTokens, nowMs: number): void {
    this.#makeTokens = makeTokens;
    this.#messages = this.#changed("messages", undefined, nowMs);
    this.#bytes = this.#changed("bytes", undefined, nowMs);
  }

  /** Whether each bucket has a token that is not reserved, and the pace allows more. */
  hasRoom(nowMs: number): boolean {
    return (
      (this.#pace === undefined || this.#pace.hasRoom(this.waiting > 0, nowMs)) &&
      (this.#messages === undefined || this.#messages.hasMoreThan(this.#reservedMessages, nowMs)) &&
      (this.#bytes === undefined || this.#bytes.hasMoreThan(this.#reservedBytes, nowMs))
    );
  }

  /** Whether each bucket has a token, for a frame that has reserved it. */
  hasTokens(nowMs: number): boolean {
    return (
      (this.#messages === undefined || this.#messages.hasMoreThan(0, nowMs)) &&
      (this.#bytes === undefined || this.#bytes.hasMoreThan(0, nowMs))
    );
  }

  /** Frames have to wait for this level, or clients are told to. */
  onShort(nowMs: number): void {
    this.#pace ??= new Pace();
    this.#pace.onShort(this.#limit, this.waiting > 0, nowMs);
  }

  /** Takes the cost in full, into debt if necessary. */
  charge(cost: Cost): void {
    this.#messages?.charge(cost.messages);
    this.#bytes?.charge(cost.bytes);
    this.#pace?.charge(cost);
  }

  reserve({ messages, bytes }: Cost): void {
    this.#reservedMessages += messages;
    this.#reservedBytes += bytes;
  }

  unreserve({ messages, bytes }: Cost): void {
    this.#reservedMessages -= messages;
    this.#reservedBytes -= bytes;
  }

  get isReserved(): boolean {
    return this.#reservedMessages > 0 || this.#reservedBytes > 0;
  }

  /**
   * Milliseconds until 1 % of the capacity, and one token, is there and not reserved; Infinity if it
   * takes reservations to end.
   */
  pauseMs(nowMs: number): number {
    return Math.max(
      this.#messages?.pauseMs(this.#reservedMessages, nowMs) ?? 0,
      this.#bytes?.pauseMs(this.#reservedBytes, nowMs) ?? 0,
      this.#pace?.pauseMs(nowMs) ?? 0,
    );
  }

  /**
   * Milliseconds until this part of the capacity is there after all that waits here has gone; 0 if it
   * is there now.
   */
  msUntilLeft(part: number, nowMs: number): number {
    return Math.max(
      this.#messages?.msUntilLeft(part, this.heldMessages, nowMs) ?? 0,
      this.#bytes?.msUntilLeft(part, this.heldBytes, nowMs) ?? 0,
    );
  }

  /**
   * Milliseconds until this much of what a flow holds here has gone, while flows wait. They have equal
   * turns, so its last frame goes after `waiting` times what it holds, or after all that waits if that is
   * less.
   */
  msUntilTurn(messages: number, bytes: number, nowMs: number): number {
    const { waiting, heldMessages, heldBytes } = this;
    return Math.max(
      this.#messages?.msUntilLeft(0, Math.min(heldMessages, messages * waiting), nowMs) ?? 0,
      this.#bytes?.msUntilLeft(0, Math.min(heldBytes, bytes * waiting), nowMs) ?? 0,
    );
  }

  /** Whether `msUntilLeft` may be above 0; false is certain, and costs next to nothing. */
  mayLack(part: number): boolean {
    return (
      mayLack(this.#messages, part, this.heldMessages) || mayLack(this.#bytes, part, this.heldBytes)
    );
  }

  /** Tokens that are there, negative in debt; undefined where there is no limit. */
  balance(nowMs: number): RateLimit {
    return { messages: this.#messages?.tokens(nowMs), bytes: this.#bytes?.tokens(nowMs) };
  }

  /** Whether nothing would change if this level were made anew. */
  isFresh(nowMs: number): boolean {
    return (
      this.waiting === 0 &&
      !this.isReserved &&
      isFull(this.#messages, nowMs) &&
      isFull(this.#bytes, nowMs)
    );
  }

  #changed(
    kind: "messages" | "bytes",
    tokens: LevelTokens | undefined,
    nowMs: number,
  ): LevelTokens | undefined {
    const rate = this.#limit[kind];
    if (rate === undefined) return undefined;
    tokens?.setRate(rate, nowMs);
    if (tokens !== undefined) return tokens;
    // A frame goes only while each level has a token, so a debt is never larger than one frame. A smaller
    // `maxDebt` would forgive a part of a large frame, and let more than the rate through.
    return this.#makeTokens(kind, rate) ?? new LazyBucket(rate, rate + LARGEST_COST[kind], nowMs);
  }
}

function mayLack(bucket: LevelTokens | undefined, part: number, held: number): boolean {
  return bucket !== undefined && bucket.leftAtLeast - held < Math.max(1, bucket.capacity * part);
}

function isFull(bucket: LevelTokens | undefined, nowMs: number): boolean {
  return bucket === undefined || bucket.tokens(nowMs) >= bucket.capacity;
}
