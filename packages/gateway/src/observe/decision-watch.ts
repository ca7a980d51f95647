import type { Reason } from "@sluice/core";
import type { BrokerEvent } from "./broker-event.ts";
import { evenTurn, heaviest } from "./waiting.ts";
import type {
  PausedConnection,
  WaitingProducer,
  WaitingSnapshot,
  WaitingTopic,
} from "./waiting.ts";

/** Shorter waits are not told: a producer at its limit waits for some milliseconds many times a second. */
const BEGIN_MS = 100;

/** A wait that begins again within this time has not ended. */
const END_MS = 1_000;

/** Waits that are followed at a time; further ones are not told. One takes some hundred bytes. */
const EPISODES_MAX = 10_000;

/** One wait, from its first frame until nothing has waited for a second. */
interface Episode {
  readonly sinceMs: number;
  lastMs: number;
  isTold: boolean;
  /** Told when it ends, if its beginning was. */
  readonly ended: (afterMs: number) => BrokerEvent | undefined;
}

interface Seen {
  readonly key: string;
  readonly sinceMs: number;
  readonly began: () => BrokerEvent;
  readonly ended: Episode["ended"];
}

/**
 * Turns snapshots of what waits into one event for each change: a topic begins to wait and waits no more, an
 * aware producer is told, a socket is paused and read again. A wait is told after 100 ms, and its end after
 * one second without it, so that a limit that is just reached does not fill the log.
 */
export class DecisionWatch {
  readonly #episodes = new Map<string, Episode>();

  /** Whether a wait is followed whose end is to be told: then `look` is needed again. */
  get isFollowing(): boolean {
    return this.#episodes.size > 0;
  }

  look(snapshot: WaitingSnapshot, nowMs: number): readonly BrokerEvent[] {
    const events: BrokerEvent[] = [];
    for (const seen of seenIn(snapshot, nowMs)) {
      const episode = this.#follow(seen, nowMs);
      if (episode === undefined || episode.isTold || nowMs - episode.sinceMs < BEGIN_MS) continue;
      episode.isTold = true;
      events.push(seen.began());
    }
    for (const [key, { lastMs, sinceMs, isTold, ended }] of this.#episodes) {
      // A wait that was never told needs no second of quiet: it is forgotten when it is over.
      if (lastMs === nowMs || (isTold && nowMs - lastMs < END_MS)) continue;
      this.#episodes.delete(key);
      const event = isTold ? ended(lastMs - sinceMs) : undefined;
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #follow({ key, sinceMs, ended }: Seen, nowMs: number): Episode | undefined {
    const former = this.#episodes.get(key);
    if (former !== undefined) {
      former.lastMs = nowMs;
      return former;
    }
    if (this.#episodes.size >= EPISODES_MAX) return undefined;
    const episode = { sinceMs, lastMs: nowMs, isTold: false, ended };
    this.#episodes.set(key, episode);
    return episode;
  }
}

function* seenIn({ topics, connections }: WaitingSnapshot, nowMs: number): Generator<Seen> {
  for (const waiting of topics) {
    yield topicSeen(waiting);
    for (const producer of waiting.producers)
      if (producer.told !== undefined) yield toldSeen(waiting, producer, nowMs);
  }
  for (const connection of connections) yield connectionSeen(connection);
}

function topicSeen(waiting: WaitingTopic): Seen {
  const { topic, reason, limiter, limit, producers, others, sinceMs } = waiting;
  return {
    key: `topic ${topic} ${limiter}`,
    sinceMs,
    began: () => {
      const top = heaviest(producers);
      const known = producers.flatMap(({ asked }) => asked ?? []);
      const turn =
        limit.messages === undefined || others > 0 ? undefined : evenTurn(limit.messages, known);
      return {
        kind: "publish-throttled",
        topic,
        reason,
        limiter,
        limit,
        producers: producers.length + others,
        heldFrames: producers.reduce((sum, { heldFrames }) => sum + heldFrames, 0),
        ...(top?.asked !== undefined && { becauseOf: { producer: top.name, asked: top.asked } }),
        ...(turn !== undefined && { turn }),
      };
    },
    ended: (afterMs) => ({ kind: "publish-resumed", topic, reason, limiter, afterMs }),
  };
}

/** A notice is a decision of its own: it is told at once, and its end is the end of the topic's wait. */
function toldSeen(
  { topic, reason, limiter }: WaitingTopic,
  { name, address, told }: WaitingProducer,
  nowMs: number,
): Seen {
  return {
    key: `told ${topic} ${limiter} ${address} ${name}`,
    sinceMs: nowMs - BEGIN_MS,
    began: () => ({
      kind: "producer-told",
      topic,
      reason,
      producer: name,
      pauseMs: told?.pauseMs ?? 0,
      ...(told?.receiptAfterMs !== undefined && { receiptAfterMs: told.receiptAfterMs }),
    }),
    ended: () => undefined,
  };
}

function connectionSeen({ address, reason, topic, sinceMs }: PausedConnection): Seen {
  const facts: { readonly address: string; readonly reason: Reason; readonly topic?: string } = {
    address,
    reason,
    ...(topic !== undefined && { topic }),
  };
  return {
    key: `connection ${address} ${reason}`,
    sinceMs,
    began: () => ({ kind: "socket-paused", ...facts }),
    ended: (afterMs) => ({ kind: "socket-resumed", ...facts, afterMs }),
  };
}
