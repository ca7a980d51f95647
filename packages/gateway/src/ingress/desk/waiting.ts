import type { LevelReason } from "../limits/limit-level.ts";
import type { RateLimit } from "../limits/rate-limit.ts";
import type { Flow } from "./flow.ts";

/** A producer that waits, as operators see it. */
export interface WaitingProducer {
  readonly name: string;
  /** The client, as "host:port". */
  readonly address: string;
  /** Whether the client knows the throttle commands (PIP-385) and gets notices. */
  readonly isAware: boolean;
  readonly heldFrames: number;
  readonly heldBytes: number;
  /** Frames that have waited and gone so far. */
  readonly released: number;
  /** Messages that the producer sent in the last second. */
  readonly askedPerSecond: number;
}

/** A topic that waits for one limiter. */
export interface WaitingTopic {
  /** The full name; a partition has its own. */
  readonly topic: string;
  readonly reason: LevelReason;
  /** "topic", "group analytics" or "broker". */
  readonly limiter: string;
  readonly limit: RateLimit;
  /** Since when the longest waiting producer has waited. */
  readonly sinceMs: number;
  /** When all that waits at the limiter now will have gone, at its rate. */
  readonly untilMs: number;
  readonly producerCount: number;
  readonly heldFrames: number;
  readonly heldBytes: number;
  /** The first of them. */
  readonly producers: readonly WaitingProducer[];
}

/** Most topics, and most producers of each, in one answer. */
const TOPICS_MAX = 200;
const PRODUCERS_MAX = 20;

interface Gathered extends WaitingTopic {
  sinceMs: number;
  producerCount: number;
  heldFrames: number;
  heldBytes: number;
  readonly producers: WaitingProducer[];
}

export function waitingTopics<Item>(
  flows: Iterable<Flow<Item>>,
  nowMs: number,
): readonly WaitingTopic[] {
  const found = new Map<string, Gathered>();
  for (const flow of flows) {
    const { level } = flow;
    if (level?.isLimited !== true) continue;
    const { topic } = flow.facts;
    const { reason, name: limiter, limit } = level;
    const key = `${topic} ${limiter}`;
    let one = found.get(key);
    if (one === undefined) {
      if (found.size >= TOPICS_MAX) continue;
      const untilMs = nowMs + level.msUntilLeft(0, nowMs);
      const none = { producerCount: 0, heldFrames: 0, heldBytes: 0, producers: [] };
      one = { topic, reason, limiter, limit, sinceMs: flow.waitsSinceMs, untilMs, ...none };
      found.set(key, one);
    }
    one.sinceMs = Math.min(one.sinceMs, flow.waitsSinceMs);
    one.producerCount++;
    one.heldFrames += flow.heldFrames;
    one.heldBytes += flow.heldBytes;
    if (one.producers.length < PRODUCERS_MAX) one.producers.push(producerOf(flow, nowMs));
  }
  return [...found.values()];
}

function producerOf<Item>(flow: Flow<Item>, nowMs: number): WaitingProducer {
  const { facts, isAware, heldFrames, heldBytes, released } = flow;
  return {
    name: facts.producer,
    address: facts.address,
    isAware,
    heldFrames,
    heldBytes,
    released,
    askedPerSecond: Math.round(flow.asked?.perSecond(nowMs) ?? 0),
  };
}
