import type { FlowFacts } from "../desk/flow.ts";
import type { LimitLevel } from "../limits/limit-level.ts";
import type { RateLimit } from "../limits/rate-limit.ts";
import { NO_LEVELS } from "../limits/topic-limits.ts";
import type { TopicLimits } from "../limits/topic-limits.ts";
import type { AwareConnection } from "./aware-connection.ts";

/**
 * - `free`: may send;
 * - `told`: a notice is on its way, so that SENDs of the last round trip still come;
 * - `complying`: the client has confirmed the notice;
 * - `ignoring`: no receipt came in time, or SENDs came after it.
 *
 * All of them are held at a limit like the producers of other clients; the state only decides about notices.
 */
export type NoticeState = "free" | "told" | "complying" | "ignoring";

/** A notice is repeated only if the pause ends later by more than this. */
export const EXTENSION_MIN_MS = 10;

/** The same as a part of the pause. Turns change whenever a producer begins or ceases to wait. Chosen, not measured. */
const EXTENSION_PART = 0.25;

/** A notice that ends a pause earlier is sent only if it does so by more than this: else it would come too late to matter. */
const SHORTENING_MIN_MS = 50;

/** The same as a part of the pause that is left. */
const SHORTENING_PART = 0.5;

/** What the desk knows of a producer: its `Flow`. */
export interface DeskFlow {
  readonly facts: FlowFacts;
  readonly limits: TopicLimits;
  /** The level for which it waits. */
  readonly level: LimitLevel | undefined;
  readonly heldFrames: number;
  readonly heldMessages: number;
  readonly heldCostBytes: number;
}

/** A producer of a client that knows the throttle commands. */
export class AwareFlow {
  readonly connection: AwareConnection;
  readonly producerId: bigint;
  readonly desk: DeskFlow;
  readonly limits: TopicLimits;
  /** How long after the last notice its receipt came. */
  receiptAfterMs: number | undefined;
  /** As the last receipt showed it; at most as long as receipts are waited for. */
  roundTripMs = 0;
  sentAtMs: number = -Infinity;
  /** When it was last told that its connection is not read. */
  informedAtMs: number = -Infinity;
  /** The levels under which it is registered. */
  levels: readonly LimitLevel[] = NO_LEVELS;
  requestId = 0n;
  /** Notices that it was sent, and receipts that it sent. */
  noticeCount = 0;
  receiptCount = 0;
  /** The end of the pause, by the server's clock: the client's ends later by the way there. */
  untilMs: number = -Infinity;
  /** The level that asked for the pause, and its limit then. */
  toldLevel: LimitLevel | undefined;
  toldLimit: RateLimit = {};
  #toldAtMs = -Infinity;
  #state: NoticeState = "free";

  constructor(connection: AwareConnection, producerId: bigint, desk: DeskFlow) {
    this.connection = connection;
    this.producerId = producerId;
    this.desk = desk;
    this.limits = desk.limits;
  }

  stateAt(nowMs: number): NoticeState {
    this.connection.expire(nowMs);
    if (nowMs >= this.untilMs) this.#state = "free";
    return this.#state;
  }

  get toldAtMs(): number {
    return this.#toldAtMs;
  }

  /** A SEND has come. True if the client had confirmed that it would not send. */
  onSend(nowMs: number): boolean {
    this.sentAtMs = nowMs;
    if (this.stateAt(nowMs) !== "complying") return false;
    this.#state = "ignoring";
    return true;
  }

  /** Whether to send a notice with this end. */
  mayTell(untilMs: number, nowMs: number): boolean {
    const state = this.stateAt(nowMs);
    if (!this.connection.isHeeding) return false;
    if (state === "ignoring")
      return untilMs > nowMs && nowMs - this.#toldAtMs >= this.connection.numbers.receiptWaitMs;
    // A client that has sent nothing since the last pause has not gone on yet, or has nothing to send.
    if (state === "free")
      return untilMs >= nowMs + this.connection.numbers.pauseMinMs && this.sentAtMs >= this.untilMs;
    const laterMs = untilMs - this.untilMs;
    if (laterMs > 0)
      return laterMs > Math.max(EXTENSION_MIN_MS, (untilMs - nowMs) * EXTENSION_PART);
    return -laterMs > Math.max(SHORTENING_MIN_MS, (this.untilMs - nowMs) * SHORTENING_PART);
  }

  told(requestId: bigint, level: LimitLevel, untilMs: number, nowMs: number): void {
    this.noticeCount++;
    this.requestId = requestId;
    this.toldLevel = level;
    this.toldLimit = level.limit;
    this.untilMs = untilMs;
    this.#toldAtMs = nowMs;
    this.receiptAfterMs = undefined;
    this.#state = untilMs > nowMs ? "told" : "free";
  }

  /** The receipt of the last notice, which may be late. */
  onReceipt(nowMs: number): void {
    this.receiptCount++;
    // The clock is read once per turn of the event loop: a notice may be sent later in the turn that reads its receipt.
    this.receiptAfterMs = Math.max(0, nowMs - this.#toldAtMs);
    this.roundTripMs = Math.min(this.receiptAfterMs, this.connection.numbers.receiptWaitMs);
    if (this.stateAt(nowMs) !== "free") this.#state = "complying";
  }

  /** No receipt of this notice came in time. */
  onOverdue(requestId: bigint): void {
    if (this.requestId === requestId && this.#state === "told") this.#state = "ignoring";
  }
}
