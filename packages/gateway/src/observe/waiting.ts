import type { Reason } from "@sluice/core";

/** Messages and bytes per second; undefined is no limit. */
export interface RateParts {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
}

/** A producer whose frames wait, or that was told to pause. */
export interface WaitingProducer {
  readonly name: string;
  /** The client, as "host:port". */
  readonly address: string;
  /** Whether its client knows the throttle commands (PIP-385). */
  readonly isAware: boolean;
  readonly heldFrames: number;
  readonly heldBytes: number;
  /**
   * Messages per second that it asks for: the most that was measured during its wait, because a client that
   * waits sends less.
   */
  readonly asked?: number | undefined;
  /** The last pause that it was told, and after how long its receipt came. */
  readonly told?:
    | { readonly pauseMs: number; readonly receiptAfterMs?: number | undefined }
    | undefined;
}

/** The producers of one topic that wait for one limiter. */
export interface WaitingTopic {
  readonly reason: Reason;
  /** The name of the producer's topic, with "-partition-N" if it is a partition. */
  readonly topic: string;
  /** "topic", "group analytics" or "broker". */
  readonly limiter: string;
  readonly limit: RateParts;
  readonly producers: readonly WaitingProducer[];
  /** Producers that wait too and are not listed. */
  readonly others: number;
  /** Since when at least one of them waits without a break, in monotonic time. */
  readonly sinceMs: number;
  /** When the limiter has tokens again; other producers may have their turn first. */
  readonly untilMs?: number | undefined;
}

/** A connection that is not read. */
export interface PausedConnection {
  readonly address: string;
  readonly reason: Reason;
  /** The topic whose frames were too many; undefined if no single topic is to blame. */
  readonly topic?: string | undefined;
  readonly sinceMs: number;
  /** Its publishes that are not stored yet; reading stops at `max` and goes on at `resume`. */
  readonly pending?: Filled | undefined;
  /** Bytes of its SENDs that wait for a limit. */
  readonly held?: Filled | undefined;
}

/** How full something is that stops reading at `max`; reading goes on at `resume`. */
export interface Filled {
  readonly used: number;
  readonly max: number;
  readonly resume: number;
}

/** What waits at one instant. */
export interface WaitingSnapshot {
  readonly topics: readonly WaitingTopic[];
  readonly connections: readonly PausedConnection[];
  /** Bytes that the SENDs of all connections hold. */
  readonly memory?: Filled | undefined;
}

export const NOTHING_WAITS: WaitingSnapshot = { topics: [], connections: [] };

/** The producer that asks most; undefined if none is known to ask for anything. */
export function heaviest(producers: readonly WaitingProducer[]): WaitingProducer | undefined {
  const known = producers.filter(({ asked }) => asked !== undefined);
  return known.toSorted((a, b) => (b.asked ?? 0) - (a.asked ?? 0))[0];
}

/**
 * What each producer gets if all of them have even turns (max-min fairness): the largest `turn` with
 * Σ min(asked, turn) ≤ limit. Undefined if all together ask for less than the limit.
 */
export function evenTurn(limit: number, asked: readonly number[]): number | undefined {
  let rest = limit;
  const smallestFirst = asked.toSorted((a, b) => a - b);
  for (const [index, one] of smallestFirst.entries()) {
    const turn = rest / (smallestFirst.length - index);
    if (one > turn) return turn;
    rest -= one;
  }
  return undefined;
}
