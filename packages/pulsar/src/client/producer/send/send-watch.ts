import type { Timer } from "@sluice/core";
import { Alarm } from "../../wait/alarm.ts";
import type { PendingSend } from "./pending-sends.ts";

/**
 * How long a message is without a receipt before its producer counts as stuck: ten times a slow disk
 * flush, and a sixth of the default send timeout, so that a log shows the cause before the failure.
 */
const STUCK_AFTER_MS = 5_000;

export interface SendWatchOptions {
  /** Infinity for no timeout. */
  readonly sendTimeoutMs: number;
  /** The oldest SEND without a receipt. */
  readonly oldest: () => PendingSend | undefined;
  /** Called once until `onReceipt`. */
  readonly onStuck: (waitedMs: number) => void;
  /** The send timeout has passed for the oldest SEND. */
  readonly onLate: (oldest: PendingSend, nowMs: number) => void;
}

/** Watches how long the oldest SEND waits for its receipt, with one alarm for all SENDs. */
export class SendWatch {
  readonly #options: SendWatchOptions;
  readonly #alarm: Alarm;
  #isStuck = false;

  constructor(timer: Timer, options: SendWatchOptions) {
    this.#options = options;
    this.#alarm = new Alarm(timer, (nowMs) => this.#onDue(nowMs));
  }

  /** SENDs were added. */
  onAdded(): void {
    if (!this.#alarm.isSet) this.#arm();
  }

  /** SENDs were stored or have failed: the next silence is told again. */
  onMoved(): void {
    this.#isStuck = false;
  }

  clear(): void {
    this.#alarm.clear();
  }

  #onDue(nowMs: number): void {
    const { sendTimeoutMs, oldest, onStuck, onLate } = this.#options;
    const first = oldest();
    if (first === undefined) return;
    const waitedMs = nowMs - first.calledAtMs;
    if (nowMs >= first.calledAtMs + sendTimeoutMs) {
      onLate(first, nowMs);
      return;
    }
    if (waitedMs >= STUCK_AFTER_MS && !this.#isStuck) {
      this.#isStuck = true;
      onStuck(waitedMs);
    }
    this.#arm();
  }

  /** The alarm stays set when all messages are stored: one idle wake-up costs less than an alarm per message. */
  #arm(): void {
    const { sendTimeoutMs, oldest } = this.#options;
    const first = oldest();
    if (first === undefined) return;
    const afterMs = this.#isStuck ? sendTimeoutMs : Math.min(sendTimeoutMs, STUCK_AFTER_MS);
    if (afterMs < Infinity) this.#alarm.set(first.calledAtMs + afterMs);
  }
}
