import { gatewayWhy } from "@sluice/gateway/admin";
import type {
  AdministrableGateway,
  FlowingProducer,
  Why,
  WaitingSnapshot,
} from "@sluice/gateway/admin";
import type { PipelinesWhy } from "../../pipelines/admin/vertex-why.ts";
import type { LiveWait } from "../live-message.ts";
import type { SampledGateway } from "./gateway-sample.ts";
import type { ProducerMeter } from "./producer-meter.ts";
import { shortTopic } from "./topic-sums.ts";

/** Rows of one sample, and what one row lists. */
const ROWS_MAX = 20;
const PRODUCERS_MAX = 3;
const TOPICS_MAX = 10;
const CONNECTIONS_MAX = 5;

type PublishWait = Extract<LiveWait, { readonly kind: "publish" }>;

/** What waits at one instant, with the rates of this sample. */
export interface WaitsInput {
  readonly gateway?:
    | {
        readonly gateway: AdministrableGateway;
        readonly sampled: SampledGateway;
        readonly snapshot: WaitingSnapshot;
      }
    | undefined;
  readonly pipelines: PipelinesWhy;
  readonly findPlace: (path: readonly string[]) => string | undefined;
  readonly wallMs: number;
}

/** One row for each limit in force: lost stores first, then those that hold back most messages a second. */
export function liveWaits(input: WaitsInput): {
  readonly waits: readonly LiveWait[];
  readonly waitsLeftOut: number;
} {
  const { pipelines } = input;
  const rows: readonly LiveWait[] = [
    ...pipelines.failed.map((why): LiveWait => ({ kind: "failed", key: why.pipeline, why })),
    ...pipelines.vertices.map((why): LiveWait => ({
      kind: "vertex",
      key: `${why.pipeline}/${why.vertex} ${why.reason}`,
      // The vertex itself has its gate, with the rates of this sample.
      why: { ...why, gate: undefined },
    })),
    ...pipelines.working.map((why): LiveWait => ({
      kind: "working",
      key: `${why.pipeline}/${why.vertex}`,
      why,
    })),
    ...gatewayWaits(input),
  ];
  const sorted = rows.toSorted((a, b) => rankOf(a) - rankOf(b) || heldBack(b) - heldBack(a));
  return {
    waits: sorted.slice(0, ROWS_MAX),
    waitsLeftOut: Math.max(0, sorted.length - ROWS_MAX),
  };
}

function gatewayWaits({ gateway: given, findPlace, wallMs }: WaitsInput): readonly LiveWait[] {
  if (given === undefined) return [];
  const { gateway, sampled, snapshot } = given;
  const { waiting, paused } = gatewayWhy({
    gateway: gateway.administered,
    snapshot: withAsked(snapshot, sampled.meters),
    findPlace,
    wallMs,
    flowing: flowingOf(snapshot, sampled.meters),
  });
  const limits = new Map<string, Why[]>();
  for (const why of waiting) {
    const key = why.reason === "topic-rate" ? `${why.reason} ${why.topic}` : why.limiter;
    limits.set(key, [...(limits.get(key) ?? []), why]);
  }
  const reasons = new Map<string, typeof paused>();
  for (const why of paused) reasons.set(why.reason, [...(reasons.get(why.reason) ?? []), why]);
  return [
    ...[...limits].map(([key, whys]) => publishWait(key, whys)),
    ...[...reasons].map(([reason, whys]): LiveWait => ({
      kind: "paused",
      key: `paused ${reason}`,
      whys: whys.slice(0, CONNECTIONS_MAX),
      whysLeftOut: Math.max(0, whys.length - CONNECTIONS_MAX),
    })),
  ];
}

/** All topics that wait for one limit, as one row. */
function publishWait(key: string, whys: readonly Why[]): PublishWait {
  const [first] = whys as readonly [Why, ...Why[]];
  const producers = whys
    .flatMap((why) => why.producers)
    .toSorted((a, b) => (b.asked ?? 0) - (a.asked ?? 0));
  const count = whys.reduce((sum, why) => sum + why.producers.length + why.others, 0);
  const listed = producers.slice(0, PRODUCERS_MAX);
  const topics = whys.map(({ topic }) => shortTopic(topic));
  const longest = whys.reduce((a, b) => (b.forMs > a.forMs ? b : a), first);
  const { notWaiting, becauseOf } = first;
  return {
    kind: "publish",
    key,
    why: {
      ...first,
      topic: shortTopic(first.topic),
      since: longest.since,
      forMs: longest.forMs,
      producers: listed,
      others: count - listed.length,
      ...(notWaiting !== undefined && { notWaiting: notWaiting.slice(0, PRODUCERS_MAX) }),
      ...(becauseOf !== undefined && { becauseOf: withoutNoise(becauseOf) }),
    },
    topics: topics.slice(0, TOPICS_MAX),
    topicsLeftOut: Math.max(0, topics.length - TOPICS_MAX),
  };
}

/** A part of all that is asked in whole percents. */
function withoutNoise({
  part,
  ...because
}: NonNullable<Why["becauseOf"]>): NonNullable<Why["becauseOf"]> {
  return { ...because, ...(part !== undefined && { part: Math.round(part * 100) / 100 }) };
}

/** The snapshot with what the meters know of each producer: its last free rate. */
function withAsked(snapshot: WaitingSnapshot, meters: readonly ProducerMeter[]): WaitingSnapshot {
  if (snapshot.topics.length === 0) return snapshot;
  const asked = new Map(
    meters.map(({ producer: { flow }, asked: rate }) => [
      keyOf(flow.facts.topic, flow.facts.address, flow.facts.producer),
      rate,
    ]),
  );
  return {
    ...snapshot,
    topics: snapshot.topics.map((topic) => ({
      ...topic,
      producers: topic.producers.map((producer) => {
        const known = asked.get(keyOf(topic.topic, producer.address, producer.name));
        return known === undefined || known === 0
          ? producer
          : { ...producer, asked: Math.round(known) };
      }),
    })),
  };
}

/** All producers of the topics that wait for their own limit. */
function flowingOf(
  { topics }: WaitingSnapshot,
  meters: readonly ProducerMeter[],
): ReadonlyMap<string, readonly FlowingProducer[]> {
  const found = new Map<string, FlowingProducer[]>(
    topics.filter(({ reason }) => reason === "topic-rate").map(({ topic }) => [topic, []]),
  );
  if (found.size === 0) return found;
  for (const { producer, asked } of meters) {
    const { topic, producer: name } = producer.flow.facts;
    found.get(topic)?.push({
      name,
      ...(asked !== undefined && asked > 0 && { asked: Math.round(asked) }),
    });
  }
  return found;
}

function keyOf(topic: string, address: string, producer: string): string {
  return `${topic} ${address} ${producer}`;
}

function rankOf(wait: LiveWait): number {
  if (wait.kind === "failed") return 0;
  if (wait.kind === "vertex" && wait.why.reason === "store-lost") return 1;
  return 2;
}

/** Messages a second that a limit keeps from going; of what is not measured, nothing is claimed. */
function heldBack(wait: LiveWait): number {
  if (wait.kind === "publish") return (wait.why.asked ?? 0) - (wait.why.limit.messages ?? 0);
  return wait.kind === "vertex" ? Math.min(0, -1 / (1 + (wait.why.queue ?? 0))) : -1;
}
