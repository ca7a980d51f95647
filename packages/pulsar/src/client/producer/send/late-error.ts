import type { SluiceError } from "@sluice/core";
import { DeadlineError } from "../../error/deadline-error.ts";
import { ProducerThrottledError } from "../../error/producer-throttled-error.ts";
import type { SendGate } from "../throttle/producer-throttle.ts";

/** Part of the wait above which the broker's limit is the cause of a timeout; PIP-385's number. */
const THROTTLED_SHARE = 0.8;

export interface LateSend {
  readonly topic: string;
  readonly sendTimeoutMs: number;
  /** Since the call of `send`. */
  readonly waitedMs: number;
  /** The part of `waitedMs` in which the producer was throttled. */
  readonly throttledMs: number;
  /** Messages without a receipt. */
  readonly pending: number;
  /** Calls that wait for room. */
  readonly waiting: number;
  /** False if the message was still waiting for room. */
  readonly mayBeStored: boolean;
}

/** The error of a message that was not stored within the send timeout. */
export function lateErrorOf(late: LateSend, gate: SendGate): SluiceError {
  const { topic, sendTimeoutMs, waitedMs, throttledMs, pending, waiting, mayBeStored } = late;
  const what = `a message of ${topic} was not stored within ${sendTimeoutMs} ms`;
  const counts = `${pending} of its messages have no receipt and ${waiting} wait for room`;
  if (throttledMs <= waitedMs * THROTTLED_SHARE) return new DeadlineError(`${what}; ${counts}`);
  const { lastReason: reason, pauseLeftMs } = gate;
  return new ProducerThrottledError(
    `${what}, because the broker limits this producer (${reason}) and did so for ${Math.round(throttledMs)} ms of that; ${counts}; send less, raise sendTimeoutMs, or have the limit raised`,
    { topic, reason, pauseLeftMs, mayBeStored },
  );
}

/** Undefined unless the pause lasts longer than the send timeout: the message could only fail later. */
export function throttledErrorOf(
  { topic, sendTimeoutMs }: Pick<LateSend, "topic" | "sendTimeoutMs">,
  gate: SendGate,
): ProducerThrottledError | undefined {
  const { pauseLeftMs } = gate;
  if (pauseLeftMs <= sendTimeoutMs) return undefined;
  const reason = gate.lastReason;
  return new ProducerThrottledError(
    `the broker limits the producer of ${topic} (${reason}) for another ${Math.ceil(pauseLeftMs)} ms, longer than sendTimeoutMs (${sendTimeoutMs}); the message was not taken: send it after the pause, raise sendTimeoutMs, or have the limit raised`,
    { topic, reason, pauseLeftMs, mayBeStored: false },
  );
}
