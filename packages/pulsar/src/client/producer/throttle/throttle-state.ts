import { throttlingReasonOf } from "../../../wire/throttle.ts";
import type { CommandThrottleProducer } from "../../../wire/definition/throttle.ts";
import type { ProducerThrottlingReason } from "../../error/producer-throttled-error.ts";

/**
 * How long a connection reason with pause 0 is remembered, in ms, if no receipt comes before. The broker
 * does not say how long it stops reading. Raised, a stall that the broker no longer causes is still
 * blamed on it; PIP-385's brokers look again every second.
 */
const REMEMBERED_MS = 1_000;

/** A stretch of time in which the broker limits the producer for one reason. */
interface Stretch {
  readonly reason: ProducerThrottlingReason;
  /** False: the broker has stopped reading, and the client only remembers why. */
  readonly isPause: boolean;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What the events of a client tell about throttling. Every "throttled" is followed by one "unthrottled". */
export type ThrottleChange =
  | {
      readonly type: "throttled";
      readonly reason: ProducerThrottlingReason;
      readonly pauseMs: number;
    }
  | {
      readonly type: "unthrottled";
      readonly reason: ProducerThrottlingReason;
      readonly throttledMs: number;
    };

/**
 * What THROTTLE_PRODUCER commands mean for one producer on one attachment, without timers and I/O.
 *
 * A command with a pause replaces the running one. Pause 0 ends it if the reason is a quota, and if it
 * is unknown. Pause 0 with a connection reason (`connection-pending`, `memory`) is information: the
 * broker has stopped reading and cannot say for how long, so a client that held its messages would only
 * send them late. The reason is remembered until the next receipt, for 1 s at most: this time counts as
 * throttled in errors and metrics. During a pause such a command changes nothing.
 */
export class ThrottleState {
  readonly #totalsMs = new Map<ProducerThrottlingReason, number>();
  #current: Stretch | undefined;
  #endedMs = 0;
  #lastReason: ProducerThrottlingReason = "unknown";

  /** Whether a stretch is running or has run out and `onDue` was not called yet. Cheap, for hot paths. */
  get isActive(): boolean {
    return this.#current !== undefined;
  }

  /** When `onDue` must be called; undefined if no stretch is running. */
  get dueAtMs(): number | undefined {
    return this.#current?.untilMs;
  }

  /** Of the running or else the last stretch. */
  get lastReason(): ProducerThrottlingReason {
    return this.#lastReason;
  }

  /** Until the producer may write again; 0 if it may now. */
  pauseLeftMs(nowMs: number): number {
    const current = this.#current;
    return current?.isPause === true ? Math.max(0, current.untilMs - nowMs) : 0;
  }

  /** All time throttled so far. The difference of two readings is the time throttled between them. */
  throttledMs(nowMs: number): number {
    return this.#endedMs + this.#lastedMs(nowMs);
  }

  /** The same by reason, without reasons that never came. */
  throttledMsByReason(nowMs: number): ReadonlyMap<ProducerThrottlingReason, number> {
    const totals = new Map(this.#totalsMs);
    const current = this.#current;
    if (current !== undefined)
      totals.set(current.reason, (totals.get(current.reason) ?? 0) + this.#lastedMs(nowMs));
    return totals;
  }

  onCommand(
    {
      throttlingReason,
      pauseForMillis,
    }: Pick<CommandThrottleProducer, "throttlingReason" | "pauseForMillis">,
    nowMs: number,
  ): readonly ThrottleChange[] {
    const reason = throttlingReasonOf(throttlingReason) ?? "unknown";
    const pauseMs = Number(pauseForMillis);
    if (pauseMs > 0) return this.#begin({ reason, pauseMs, isPause: true }, nowMs);
    if (!isConnectionReason(reason)) return this.end(nowMs);
    if (this.pauseLeftMs(nowMs) > 0) return [];
    return this.#begin({ reason, pauseMs, isPause: false }, nowMs);
  }

  /** A SEND was stored, so the broker reads. A pause goes on: its receipts are for SENDs written before. */
  onReceipt(nowMs: number): readonly ThrottleChange[] {
    return this.#current?.isPause === false ? this.end(nowMs) : [];
  }

  onDue(nowMs: number): readonly ThrottleChange[] {
    const current = this.#current;
    return current === undefined || nowMs < current.untilMs ? [] : this.end(nowMs);
  }

  /** Ends the running stretch: the broker released the producer, or the attachment is gone. */
  end(nowMs: number): readonly ThrottleChange[] {
    const current = this.#current;
    if (current === undefined) return [];
    const { reason } = current;
    const throttledMs = this.#lastedMs(nowMs);
    this.#endedMs += throttledMs;
    this.#totalsMs.set(reason, (this.#totalsMs.get(reason) ?? 0) + throttledMs);
    this.#current = undefined;
    return [{ type: "unthrottled", reason, throttledMs }];
  }

  #begin(
    {
      reason,
      pauseMs,
      isPause,
    }: Pick<Stretch, "reason" | "isPause"> & { readonly pauseMs: number },
    nowMs: number,
  ): readonly ThrottleChange[] {
    const ended = this.end(nowMs);
    const untilMs = nowMs + (isPause ? pauseMs : REMEMBERED_MS);
    this.#current = { reason, isPause, fromMs: nowMs, untilMs };
    this.#lastReason = reason;
    return [...ended, { type: "throttled", reason, pauseMs }];
  }

  #lastedMs(nowMs: number): number {
    const current = this.#current;
    return current === undefined ? 0 : Math.min(nowMs, current.untilMs) - current.fromMs;
  }
}

/** The broker breaches a bound of its own and stops reading, whatever the client does. */
function isConnectionReason(reason: ProducerThrottlingReason): boolean {
  return reason === "connection-pending" || reason === "memory";
}
