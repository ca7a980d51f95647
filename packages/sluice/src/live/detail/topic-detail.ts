import { topicSetting } from "@sluice/gateway/admin";
import type { AdministrableGateway, WaitingSnapshot } from "@sluice/gateway/admin";
import type {
  LiveNotice,
  LivePipeline,
  LiveProducerRow,
  LiveTopicDetail,
} from "../live-message.ts";
import { liveProducer } from "../sample/gateway-sample.ts";
import type { SampledGateway } from "../sample/gateway-sample.ts";
import type { ProducerMeter } from "../sample/producer-meter.ts";
import { rounded, roundedIfKnown } from "../sample/rounded.ts";
import { liveTopic, PublishSum, shortTopic } from "../sample/topic-sums.ts";
import { TopicWatch } from "./topic-watch.ts";

/** Producers and connections of one message. */
const ROWS_MAX = 100;
const CONNECTIONS_MAX = 20;
/** Producers that are named for one connection; one may have thousands. */
const NAMES_MAX = 20;

/** A notice whose receipt has not come after this time has none in time; the gateway's own bound is 100 ms. */
const RECEIPT_MS = 100;

/** What of a sample a detail is made of. */
export interface DetailInput {
  readonly sampled: SampledGateway;
  readonly snapshot: WaitingSnapshot;
  readonly pipelines: readonly LivePipeline[];
  readonly findPlace: (path: readonly (string | number)[]) => string | undefined;
  readonly wallMs: number;
}

/** One topic, while at least one page looks at it. */
export class TopicDetail {
  readonly #gateway: AdministrableGateway;
  /** The full name. */
  readonly #topic: string;
  readonly #watch = new TopicWatch();
  /** When each producer was told of last, as far as pages know. */
  readonly #told = new WeakMap<ProducerMeter["producer"]["flow"], number>();

  constructor(gateway: AdministrableGateway, topic: string) {
    this.#gateway = gateway;
    this.#topic = topic;
  }

  read({ sampled, snapshot, pipelines, findPlace, wallMs }: DetailInput): LiveTopicDetail {
    const { meters, sums, nowMs, live } = sampled;
    const own = meters.filter(({ producer }) => producer.flow.limits.topic.key === this.#topic);
    const shown = own.toSorted((a, b) => (b.asked ?? 0) - (a.asked ?? 0)).slice(0, ROWS_MAX);
    this.#watch.follow(shown.map(({ producer }) => producer.flow));
    const sum = sums.topics.get(this.#topic) ?? new PublishSum();
    const { target, limit, path, place, setAt } = topicSetting(
      this.#gateway.administered,
      this.#topic,
      findPlace,
    );
    const waiting = snapshot.topics.filter(({ topic }) => keyOf(topic) === this.#topic);
    const name = shortTopic(this.#topic);
    const backlog = live.topics.find((one) => one.name === name)?.backlog;
    const places = new Map(shown.map(({ producer }, index) => [producer.flow, index]));
    return {
      ...liveTopic(this.#topic, sum, backlog),
      limit: sum.limit ?? limit,
      atMs: Math.round(wallMs),
      ...(own.length === 0 && limit === undefined && !this.#isKnown() && { isMissing: true }),
      ...(waiting.length > 0 && {
        limitedForMs: Math.round(nowMs - Math.min(...waiting.map(({ sinceMs }) => sinceMs))),
      }),
      setting: {
        path,
        ...(place !== undefined && { place }),
        ...(setAt !== undefined && { setAt }),
        ...(limit !== undefined && isTopicLevel(target.level) && { level: target.level }),
      },
      rows: shown.map((meter) => this.#row(meter)),
      rowsLeftOut: own.length - shown.length,
      turns: this.#watch.turns.flatMap((flow) => places.get(flow) ?? []),
      evenness: evennessOf(own),
      notices: this.#notices(own, nowMs, wallMs),
      held: heldOf(own),
      reader: readerOf(pipelines, name),
    };
  }

  /** No page looks at it any more. */
  stop(): void {
    this.#watch.stop();
  }

  #isKnown(): boolean {
    const { administered } = this.#gateway;
    return !("broker" in administered) || administered.broker.hasTopic(this.#topic);
  }

  #row(meter: ProducerMeter): LiveProducerRow {
    const { flow, aware } = meter.producer;
    return {
      ...liveProducer(meter),
      address: flow.facts.address,
      client: flow.facts.client,
      waitP50Ms: roundedIfKnown(this.#watch.waitOf(flow, 0.5)),
      waitP99Ms: roundedIfKnown(this.#watch.waitOf(flow, 0.99)),
      notices: aware?.noticeCount ?? 0,
      receipts: aware?.receiptCount ?? 0,
      receiptMs: roundedIfKnown(aware?.receiptAfterMs),
    };
  }

  /** Each notice once, when its receipt has come or is late. */
  #notices(meters: readonly ProducerMeter[], nowMs: number, wallMs: number): readonly LiveNotice[] {
    return meters.flatMap(({ producer: { flow, aware } }) => {
      if (aware === undefined || !Number.isFinite(aware.toldAtMs)) return [];
      const { toldAtMs, untilMs, receiptAfterMs } = aware;
      const known = this.#told.get(flow);
      const isDue = receiptAfterMs !== undefined || nowMs - toldAtMs > RECEIPT_MS;
      if (known === toldAtMs || !isDue) return [];
      this.#told.set(flow, toldAtMs);
      return [
        {
          atMs: Math.round(wallMs - (nowMs - toldAtMs)),
          producer: flow.facts.producer,
          pauseMs: Math.max(0, Math.round(untilMs - toldAtMs)),
          receiptAfterMs: roundedIfKnown(receiptAfterMs),
        },
      ];
    });
  }
}

function isTopicLevel(level: string): level is "topic" | "namespace" | "default" {
  return level === "topic" || level === "namespace" || level === "default";
}

/** Jain's index of what those that wait get: `(Σx)² ÷ (n × Σx²)`; 1 if all get the same. */
function evennessOf(meters: readonly ProducerMeter[]): number | undefined {
  const rates = meters.filter(({ reason }) => reason !== undefined).map(({ rate }) => rate);
  const squares = rates.reduce((sum, rate) => sum + rate * rate, 0);
  if (rates.length < 2 || squares === 0) return undefined;
  const sum = rates.reduce((total, rate) => total + rate, 0);
  return Math.round(((sum * sum) / (rates.length * squares)) * 1_000) / 1_000;
}

function heldOf(meters: readonly ProducerMeter[]): LiveTopicDetail["held"] {
  const connections = new Map<string, { producers: string[]; bytes: number; max: number }>();
  for (const { producer } of meters) {
    const { facts, account, heldFrames } = producer.flow;
    if (heldFrames === 0) continue;
    const { bytes, maxBytes } = account.state;
    const known = connections.get(facts.address);
    if (known !== undefined) known.producers.push(facts.producer);
    else
      connections.set(facts.address, {
        producers: [facts.producer],
        bytes,
        max: Math.floor(maxBytes),
      });
  }
  return [...connections]
    .toSorted(([, a], [, b]) => b.bytes - a.bytes)
    .slice(0, CONNECTIONS_MAX)
    .map(([address, held]) => ({
      address,
      ...held,
      producers: held.producers.slice(0, NAMES_MAX),
    }));
}

/** The source of a pipeline that reads the topic here. */
function readerOf(pipelines: readonly LivePipeline[], topic: string): LiveTopicDetail["reader"] {
  for (const { name, vertices } of pipelines) {
    const [source] = vertices;
    if (source?.connector !== "pulsar" || source.peer === undefined) continue;
    if (shortTopic(fullTopic(source.peer)) !== topic) continue;
    return {
      vertex: `${name}/${source.name}`,
      rate: rounded(source.rate),
      ceiling: source.share?.ceiling,
    };
  }
  return undefined;
}

/** The full name of any form of a topic's name, as clients write it. */
export function fullTopic(name: string): string {
  if (name.includes("://")) return name;
  return `persistent://${name.includes("/") ? name : `public/default/${name}`}`;
}

function keyOf(topic: string): string {
  return topic.replace(/-partition-\d+$/, "");
}
