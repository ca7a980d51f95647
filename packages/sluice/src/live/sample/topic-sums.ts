import type { Reason } from "@sluice/core";
import type { RateParts } from "@sluice/gateway/admin";
import type { LiveGroup, LiveTopic } from "../live-message.ts";
import type { ProducerMeter } from "./producer-meter.ts";
import { rounded } from "./rounded.ts";

/** One for all: most topics wait for nothing and are in no group. */
const NONE: readonly never[] = [];

/** What the producers of a topic, of a group or of the gateway do together. */
export class PublishSum {
  messages = 0;
  bytes = 0;
  asked = 0;
  isAskedAtLeast = false;
  producers = 0;
  waiting = 0;
  /** What they wait for. */
  reasons: readonly Reason[] = NONE;
  limit: RateParts | undefined;
  groups: readonly string[] = NONE;
  /** Of a group: topics that have producers. */
  topics = 0;

  add(meter: ProducerMeter): void {
    this.messages += meter.rate;
    this.bytes += meter.byteRate;
    this.asked += meter.asked ?? 0;
    this.isAskedAtLeast ||= meter.isAskedAtLeast;
    this.producers++;
    if (meter.reason === undefined) return;
    this.waiting++;
    if (!this.reasons.includes(meter.reason)) this.reasons = [...this.reasons, meter.reason];
  }
}

export interface PublishSums {
  readonly all: PublishSum;
  /** By the full name without "-partition-N". */
  readonly topics: ReadonlyMap<string, PublishSum>;
  readonly groups: ReadonlyMap<string, PublishSum>;
}

/** Sums of all producers, with the limits that their messages are charged at. */
export function publishSums(meters: readonly ProducerMeter[], nowMs: number): PublishSums {
  const all = new PublishSum();
  const topics = new Map<string, PublishSum>();
  const groups = new Map<string, PublishSum>();
  for (const meter of meters) {
    const { limits } = meter.producer.flow;
    const { key } = limits.topic;
    const isNew = !topics.has(key);
    const topic = sumOf(topics, key);
    all.add(meter);
    topic.add(meter);
    for (const level of limits.levelsAt(nowMs)) {
      if (level.name === "broker") continue;
      if (level.name === "topic") {
        topic.limit = level.limit;
        continue;
      }
      const name = level.name.replace(/^group /, "");
      const group = sumOf(groups, name);
      group.add(meter);
      group.limit = level.limit;
      if (!isNew) continue;
      group.topics++;
      topic.groups = [...topic.groups, name];
    }
  }
  return { all, topics, groups };
}

/** The topic as a page shows it. */
export function liveTopic(name: string, sum: PublishSum, backlog?: number): LiveTopic {
  return {
    name: shortTopic(name),
    ...rates(sum),
    producers: sum.producers,
    waiting: sum.waiting,
    reason: sum.reasons[0],
    groups: sum.groups,
    backlog,
  };
}

export function liveGroup(name: string, sum: PublishSum): LiveGroup {
  return { name, ...rates(sum), topics: sum.topics, reason: reasonOf(sum, "group-rate") };
}

/** What is said of the gateway as a whole. */
export function gatewayReason(sum: PublishSum): Reason | undefined {
  return reasonOf(sum, "broker-rate");
}

function reasonOf({ reasons }: PublishSum, own: Reason): Reason | undefined {
  return reasons.includes(own) ? own : undefined;
}

function rates({ messages, bytes, limit, asked, isAskedAtLeast }: PublishSum): {
  readonly rate: { readonly messages: number; readonly bytes: number };
  readonly limit: RateParts | undefined;
  readonly asked: number;
  readonly isAskedAtLeast: boolean;
} {
  return {
    rate: { messages: rounded(messages), bytes: Math.round(bytes) },
    limit,
    asked: rounded(asked),
    isAskedAtLeast,
  };
}

/** Without the domain, which most topics share: "public/default/orders". */
export function shortTopic(full: string): string {
  return full.replace(/^persistent:\/\//, "");
}

function sumOf(sums: Map<string, PublishSum>, name: string): PublishSum {
  const sum = sums.get(name) ?? new PublishSum();
  sums.set(name, sum);
  return sum;
}
