import type { Clock } from "@sluice/core";
import type { ConnectionPauses, Ingress } from "../../ingress/ingress.ts";
import type { HeldState } from "../../ingress/desk/held-account.ts";
import type { WaitingTopic as HeldTopic } from "../../ingress/desk/waiting.ts";
import type { ToldProducer } from "../../ingress/notices/throttle-notices.ts";
import type { ByteBudget } from "../../memory/byte-budget.ts";
import { AskedPeaks } from "../../observe/asked-peaks.ts";
import type {
  Filled,
  PausedConnection,
  WaitingProducer,
  WaitingSnapshot,
  WaitingTopic,
} from "../../observe/waiting.ts";
import type { Throttling } from "../administered-broker.ts";

/** Most limiters whose balance is a metric. */
const LEVELS_MAX = 1_000;

/** Producers that were told, listed with one topic. */
const TOLD_OF_TOPIC_MAX = 20;

/** What an ingress does, as its administration sees it. */
export function ingressThrottling<Item>(
  ingress: Ingress<Item>,
  clock: Clock,
  memory: ByteBudget,
): Throttling {
  const peaks = new AskedPeaks();
  return {
    now: () => clock.now(),
    waiting: () => {
      const nowMs = clock.now();
      return peaks.seen(snapshotOf(ingress, nowMs), nowMs);
    },
    totals: () => {
      const nowMs = clock.now();
      return {
        limited: ingress.limitedTotals(nowMs),
        pauses: ingress.pauses(nowMs),
        notices: ingress.noticeCounts,
        heldBytes: memory.bytesOf("held"),
        levels: first(ingress.limits.levelStates(nowMs), LEVELS_MAX),
      };
    },
    noticeCounts: () => ingress.noticeCounts,
    producers: () => ingress.openFlows(),
    groups: () => ingress.limits.groups(),
    brokerLimit: () => ingress.limits.get({ level: "broker" }),
  };
}

function snapshotOf<Item>(ingress: Ingress<Item>, nowMs: number): WaitingSnapshot {
  return {
    topics: withTold(ingress.waiting(nowMs).map(topicOf), ingress.told(nowMs)),
    connections: ingress.pauses(nowMs).flatMap(pausedOf),
    memory: filledOf(ingress.held),
  };
}

function topicOf({ producers, producerCount, ...waiting }: HeldTopic): WaitingTopic {
  const { topic, reason, limiter, limit, sinceMs, untilMs } = waiting;
  return {
    topic,
    reason,
    limiter,
    limit,
    sinceMs,
    untilMs,
    producers: producers.map(
      ({ name, address, isAware, heldFrames, heldBytes, askedPerSecond }) => ({
        name,
        address,
        isAware,
        heldFrames,
        heldBytes,
        ...(askedPerSecond > 0 && { asked: askedPerSecond }),
      }),
    ),
    others: producerCount - producers.length,
  };
}

/** Producers that were told wait in their own client: beside those whose frames are held here. */
export function withTold(
  held: readonly WaitingTopic[],
  told: readonly ToldProducer[],
): readonly WaitingTopic[] {
  const topics = new Map(held.map((one) => [keyOf(one.topic, one.limiter), one]));
  for (const one of told) {
    const { facts, level, toldAtMs } = one;
    const key = keyOf(facts.topic, level.name);
    const waiting = topics.get(key) ?? {
      topic: facts.topic,
      reason: level.reason,
      limiter: level.name,
      limit: level.limit,
      producers: [],
      others: 0,
      sinceMs: toldAtMs,
    };
    topics.set(key, withProducer(waiting, one));
  }
  return [...topics.values()];
}

function withProducer(waiting: WaitingTopic, one: ToldProducer): WaitingTopic {
  const { facts, toldAtMs, untilMs, receiptAfterMs } = one;
  const { producers } = waiting;
  const told = {
    pauseMs: Math.round(untilMs - toldAtMs),
    ...(receiptAfterMs !== undefined && { receiptAfterMs: Math.round(receiptAfterMs) }),
  };
  const isSame = ({ name, address }: WaitingProducer): boolean =>
    name === facts.producer && address === facts.address;
  if (producers.some(isSame))
    return { ...waiting, producers: producers.map((p) => (isSame(p) ? { ...p, told } : p)) };
  if (producers.length >= TOLD_OF_TOPIC_MAX) return { ...waiting, others: waiting.others + 1 };
  const { producer: name, address } = facts;
  const added = { name, address, isAware: true, heldFrames: 0, heldBytes: 0, told };
  return {
    ...waiting,
    producers: [...producers, added],
    sinceMs: Math.min(waiting.sinceMs, toldAtMs),
  };
}

function keyOf(topic: string, limiter: string): string {
  return `${topic} ${limiter}`;
}

function pausedOf(connection: ConnectionPauses): readonly PausedConnection[] {
  const { address, pauses, pending, held } = connection;
  return pauses
    .filter(({ isPaused }) => isPaused)
    .map(({ reason, causeTopic, sinceMs }) => ({
      address,
      reason,
      ...(causeTopic !== "" && { topic: causeTopic }),
      sinceMs,
      ...(reason === "connection-pending"
        ? { pending: { used: pending.count, max: pending.max, resume: pending.resume } }
        : { held: filledOf(held) }),
    }));
}

function filledOf({ bytes, maxBytes, resumeBytes }: HeldState): Filled {
  return { used: bytes, max: Math.floor(maxBytes), resume: Math.floor(resumeBytes) };
}

function first<T>(values: Iterable<T>, max: number): readonly T[] {
  const found: T[] = [];
  for (const value of values) {
    if (found.length >= max) break;
    found.push(value);
  }
  return found;
}
