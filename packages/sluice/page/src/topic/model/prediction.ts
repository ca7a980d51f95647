import type { LiveLimit } from "../../../../src/live/live-message.ts";
import { fairTurns } from "../../words/fair-turns.ts";
import type { LimitView, ProducerView } from "./limit-view.ts";

/** What producers would get of another limit, by max-min fairness over what they ask for now. */
export interface Prediction {
  /** Messages a second of all. */
  readonly accepted: number;
  /** In the order of the view's producers. */
  readonly gets: readonly number[];
  readonly waiting: readonly ProducerView[];
  /** What each that waits would get; absent if none waits. */
  readonly turn?: number | undefined;
  /** Whether somebody who waits now asks for at least what is known: then it may ask for more. */
  readonly isAtLeast: boolean;
}

/** A producer that lacks less than this part of what it asks for does not wait: rates are measured. */
const WAITS_FROM = 0.01;

/** A producer that gets at least this part of what it asks for is not slowed: both are measured. */
const SLOWED_BELOW = 0.95;

export function predict(view: LimitView, limit: LiveLimit | undefined): Prediction {
  const { producers } = view;
  const asked = producers.map(askedOf);
  // Producers that are not listed do not wait, so they go on as they do.
  const unlisted = Math.max(0, view.rate.messages - sumOf(producers.map(({ rate }) => rate)));
  const room = messagesOf(limit, meanBytes(view));
  const { gets, turn } = fairTurns(asked, Math.max(0, room - unlisted));
  const waiting = producers.filter(
    (_, index) => (asked[index] ?? 0) * (1 - WAITS_FROM) > (gets[index] ?? 0),
  );
  return {
    accepted: Math.min(room, unlisted + sumOf(gets)),
    gets,
    waiting,
    ...(waiting.length > 0 && { turn }),
    isAtLeast: producers.some(({ isAskedAtLeast }) => isAskedAtLeast),
  };
}

/** The smallest limit at which nobody waits, as far as is known: what all ask for. */
export function enoughFor(view: LimitView): number {
  const { producers, rate } = view;
  const unlisted = Math.max(0, rate.messages - sumOf(producers.map((one) => one.rate)));
  return Math.max(view.asked, unlisted + sumOf(producers.map(askedOf)));
}

/** Messages a second that a producer wants to publish; what it gets if nothing more is known. */
export function askedOf({ asked, rate }: ProducerView): number {
  return Math.max(asked ?? 0, rate);
}

/**
 * Whether a producer gets less than it asks for. One whose frames wait for a moment and that gets all it asks for is
 * not slowed.
 */
export function isSlowed(producer: ProducerView): boolean {
  return producer.reason !== undefined && producer.rate < askedOf(producer) * SLOWED_BELOW;
}

/** The part of the limit that is used up most: the one that producers wait for. */
export function tightest({ limit, rate }: LimitView): LiveLimit {
  const { messages, bytes } = limit ?? {};
  if (messages === undefined || bytes === undefined) return limit ?? {};
  return rate.bytes / bytes > rate.messages / messages ? { bytes } : { messages };
}

/** Bytes of a message, on average; undefined while nothing flows. */
function meanBytes({ rate }: LimitView): number | undefined {
  return rate.messages > 0 ? rate.bytes / rate.messages : undefined;
}

/** A limit in messages a second: the tighter of its parts, by the mean size of messages. */
function messagesOf(limit: LiveLimit | undefined, bytesEach: number | undefined): number {
  const byBytes =
    limit?.bytes === undefined || bytesEach === undefined || bytesEach === 0
      ? Infinity
      : limit.bytes / bytesEach;
  return Math.min(limit?.messages ?? Infinity, byBytes);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
