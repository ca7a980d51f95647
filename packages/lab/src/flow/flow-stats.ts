import { SECOND_MS } from "@sluice/core/internal";
import { jainIndex, sum } from "../simulation/fairness.ts";
import type { FlowPlan } from "./flow-plan.ts";
import type { ConnectionFigures } from "./measure/connection-figures.ts";
import type { ProducerFigures } from "./measure/producer-figures.ts";
import type { TopicMeter } from "./measure/topic-meter.ts";
import type { ProducerPlan } from "./producer-plan.ts";
import type { FlowResult } from "./run-flow.ts";

/** The figures of a run. Null: there was nothing to measure. */
export interface FlowStats {
  readonly producers: Readonly<Record<string, ProducerStats>>;
  readonly connections: Readonly<Record<string, ConnectionStats>>;
  readonly topics: Readonly<Record<string, TopicStats>>;
  readonly memoryBytesMax: number;
}

interface ProducerStats {
  readonly accepted: number;
  readonly perSecond: number;
  readonly failed: number;
  readonly waitMs: { readonly p50: number | null; readonly p99: number | null };
  readonly throttledMs: Readonly<Record<string, number>>;
  readonly notices: number;
  readonly receipts: number;
}

interface ConnectionStats {
  readonly pausedMs: number;
  readonly heldBytesMax: number;
}

interface TopicStats {
  readonly perSecond: number;
  readonly maxSecondRatio: number | null;
  readonly jain: number | null;
}

/** Of what it wanted in a second; a producer that got less always had something to send. */
const SATED_PART = 0.98;

/** `nameOf` gives the name of a topic as the file has it. */
export function flowStats(
  plan: FlowPlan,
  result: FlowResult,
  nameOf: (topic: string) => string,
): FlowStats {
  const spans = new Map(plan.producers.map((producer) => [producer.id, spanOf(producer, plan)]));
  const spanOfId = (id: string): Span => spans.get(id) ?? WHOLE(plan.durationS);
  const producers = [...result.producers].map(
    ([id, figures]) => [id, producerStats(figures, spanOfId(id))] as const,
  );
  const topics = [...result.topics].map(([topic, meter]) => {
    const own = plan.producers.filter((producer) => producer.topic === topic);
    const stats = topicStats(
      meter,
      own.map((producer) => ({
        plan: producer,
        span: spanOfId(producer.id),
        perSecond: result.producers.get(producer.id)?.perSecond ?? [],
      })),
    );
    return [nameOf(topic), stats] as const;
  });
  const connections = [...result.connections].map(
    ([name, figures]) => [name, connectionStats(figures)] as const,
  );
  return {
    producers: Object.fromEntries(producers),
    connections: Object.fromEntries(connections),
    topics: Object.fromEntries(topics),
    memoryBytesMax: result.memoryBytesMax,
  };
}

/** Whole seconds, the first included and the last not. */
interface Span {
  readonly from: number;
  readonly until: number;
}

const WHOLE = (durationS: number): Span => ({ from: 0, until: durationS });

/** The seconds in which a producer sends from beginning to end. */
function spanOf({ id, fromS, untilS }: ProducerPlan, { events }: FlowPlan): Span {
  const left = events.find(({ action }) => action.do === "leave" && action.producer === id);
  const leftS = left === undefined ? Infinity : left.atMs / SECOND_MS;
  return { from: Math.ceil(fromS), until: Math.floor(Math.min(untilS, leftS)) };
}

/** Per second of the span after its first second, which is a burst if a bucket was full. */
function meanOf(perSecond: readonly number[], { from, until }: Span): number {
  const first = until - from > 1 ? from + 1 : from;
  const seconds = perSecond.slice(first, until);
  return seconds.length === 0 ? 0 : rounded(sum(seconds) / seconds.length);
}

function producerStats(figures: ProducerFigures, span: Span): ProducerStats {
  const [p50, p99] = figures.waits.quantiles([0.5, 0.99]);
  const throttled = [...figures.throttled.totalsMs].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    accepted: figures.accepted,
    perSecond: meanOf(figures.perSecond, span),
    failed: figures.failed,
    waitMs: { p50: orNull(p50), p99: orNull(p99) },
    throttledMs: Object.fromEntries(throttled.map(([reason, ms]) => [reason, rounded(ms)])),
    notices: figures.notices,
    receipts: figures.receipts,
  };
}

function connectionStats({ pausedMs, heldBytesMax }: ConnectionFigures): ConnectionStats {
  return { pausedMs: rounded(pausedMs), heldBytesMax };
}

interface OwnProducer {
  readonly plan: ProducerPlan;
  readonly span: Span;
  readonly perSecond: readonly number[];
}

function topicStats(meter: TopicMeter, own: readonly OwnProducer[]): TopicStats {
  const span = {
    from: Math.min(...own.map(({ span: { from } }) => from)),
    until: Math.max(...own.map(({ span: { until } }) => until)),
  };
  return {
    perSecond: meanOf(meter.perSecond, span),
    maxSecondRatio: orNull(meter.maxSecondRatio),
    jain: orNull(jainOf(own.filter(isHungry))),
  };
}

/** Whether the producer got less than it wanted in every second after its first. */
function isHungry({ plan, span, perSecond }: OwnProducer): boolean {
  const seconds = perSecond.slice(span.from + 1, span.until);
  return seconds.length > 0 && seconds.every((count) => count < plan.perSecond * SATED_PART);
}

/** Over the seconds that all of them have in common, their first ones excepted. */
function jainOf(hungry: readonly OwnProducer[]): number | undefined {
  const from = Math.max(...hungry.map(({ span }) => span.from + 1));
  const until = Math.min(...hungry.map(({ span }) => span.until));
  if (hungry.length === 0 || until <= from) return undefined;
  return jainIndex(hungry.map(({ perSecond }) => sum(perSecond.slice(from, until))));
}

function orNull(value: number | undefined): number | null {
  return value === undefined ? null : rounded(value);
}

/** To six digits after the point: sums of doubles differ in their last digits. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
