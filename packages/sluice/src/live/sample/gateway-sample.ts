import type { AdministrableGateway, RateParts } from "@sluice/gateway/admin";
import type { LiveGateway, LiveNotices, LiveProducer, LiveShare } from "../live-message.ts";
import { Backlogs } from "./backlogs.ts";
import { ProducerMeters } from "./producer-meter.ts";
import type { ProducerMeter } from "./producer-meter.ts";
import { rounded, roundedIfKnown } from "./rounded.ts";
import { sharedShare } from "./shared-share.ts";
import { topOf } from "./top-of.ts";
import { gatewayReason, liveGroup, liveTopic, publishSums, shortTopic } from "./topic-sums.ts";
import type { PublishSum, PublishSums } from "./topic-sums.ts";

/** Topics, groups and producers of one sample. Raised, a sample of a busy gateway is longer by as much. */
const TOPICS_MAX = 24;
const GROUPS_MAX = 12;
const PRODUCERS_MAX = 24;

/** A gateway between two samples. */
export interface SampledGateway {
  readonly live: LiveGateway;
  readonly meters: readonly ProducerMeter[];
  readonly sums: PublishSums;
  readonly nowMs: number;
}

/** Measures a gateway at every sample. Its work is one step for each producer that is open. */
export class GatewaySampler {
  readonly #gateway: AdministrableGateway;
  readonly #meters = new ProducerMeters();
  readonly #backlogs: Backlogs;
  #sampledAtMs = -Infinity;

  constructor(gateway: AdministrableGateway) {
    this.#gateway = gateway;
    this.#backlogs = new Backlogs(gateway);
  }

  sample(): SampledGateway {
    const { upstream, throttling, connections } = this.#gateway.administered;
    const nowMs = throttling.now();
    const meters = this.#meters.sample(throttling.producers(), nowMs);
    const sums = publishSums(meters, nowMs);
    const topics = shownTopics(sums.topics, TOPICS_MAX);
    const producers = shownProducers(meters, PRODUCERS_MAX);
    const shown = producers.reduce((sum, { rate }) => sum + rate, 0);
    const { memoryBytes, memoryBytesMax, connections: open } = connections();
    const live: LiveGateway = {
      upstream,
      rate: { messages: rounded(sums.all.messages), bytes: Math.round(sums.all.bytes) },
      limit: throttling.brokerLimit(),
      share: this.#share("broker", throttling.brokerLimit()),
      asked: rounded(sums.all.asked),
      isAskedAtLeast: sums.all.isAskedAtLeast,
      reason: gatewayReason(sums.all),
      memory: { used: memoryBytes, max: memoryBytesMax },
      connections: open,
      topics: topics.map(([name, sum]) => liveTopic(name, sum, this.#backlogs.of(name))),
      topicsLeftOut: sums.topics.size - topics.length,
      groups: [...sums.groups].slice(0, GROUPS_MAX).map(([name, sum]) => ({
        ...liveGroup(name, sum),
        share: this.#share(`group ${name}`, sum.limit),
      })),
      producers: producers.map((meter) => liveProducer(meter)),
      producersLeftOut: {
        count: meters.length - producers.length,
        rate: rounded(Math.max(0, sums.all.messages - shown)),
      },
      notices: this.#notices(meters, throttling.noticeCounts().unheeded),
    };
    this.#backlogs.look(topics.map(([name]) => name));
    this.#sampledAtMs = nowMs;
    return { live, meters, sums, nowMs };
  }

  /** This gateway's part of a limit that several gateways share; of messages if both units are shared. */
  #share(limiter: string, limit: RateParts | undefined): LiveShare | undefined {
    const states = this.#gateway.administered.shares?.states() ?? [];
    const own = states.filter(
      ({ target }) => (target.level === "group" ? `group ${target.name}` : "broker") === limiter,
    );
    const state = own.find(({ kind }) => kind === "messages") ?? own[0];
    return state && sharedShare(state, limit?.[state.kind]);
  }

  #notices(meters: readonly ProducerMeter[], missing: number): LiveNotices {
    const told = meters.filter(({ isTold }) => isTold);
    const receipts = told.flatMap(({ producer }) => producer.aware?.receiptAfterMs ?? []);
    const pauses = told.flatMap(({ producer: { aware } }) =>
      aware !== undefined && aware.toldAtMs > this.#sampledAtMs
        ? aware.untilMs - aware.toldAtMs
        : [],
    );
    return {
      told: told.length,
      limited: meters.filter(({ reason }) => reason !== undefined).length,
      pauseMs: pauses.length === 0 ? undefined : Math.round(Math.max(...pauses.slice(0, 1_000))),
      receiptMs:
        receipts.length === 0
          ? undefined
          : rounded(receipts.reduce((sum, ms) => sum + ms, 0) / receipts.length),
      missing,
    };
  }
}

/** Those that wait, then the busiest. */
function shownTopics(
  topics: PublishSums["topics"],
  max: number,
): readonly (readonly [string, PublishSum])[] {
  return topOf(
    topics,
    max,
    ([, a], [, b]) => Number(b.waiting > 0) - Number(a.waiting > 0) || b.messages - a.messages,
  );
}

function shownProducers(meters: readonly ProducerMeter[], max: number): readonly ProducerMeter[] {
  return topOf(
    meters,
    max,
    (a, b) =>
      Number(b.reason !== undefined) - Number(a.reason !== undefined) ||
      (b.asked ?? 0) - (a.asked ?? 0),
  );
}

export function liveProducer(meter: ProducerMeter): LiveProducer {
  const { producer, rate, asked, isAskedAtLeast, isTold, reason } = meter;
  const { flow, aware } = producer;
  return {
    name: flow.facts.producer,
    topic: shortTopic(flow.limits.topic.key),
    isAware: flow.isAware,
    rate: rounded(rate),
    asked: roundedIfKnown(asked),
    isAskedAtLeast,
    heldFrames: flow.heldFrames,
    heldBytes: flow.heldBytes,
    ...(isTold &&
      aware !== undefined && {
        told: {
          pauseMs: Math.round(aware.untilMs - aware.toldAtMs),
          receiptAfterMs: roundedIfKnown(aware.receiptAfterMs),
        },
      }),
    reason,
  };
}
