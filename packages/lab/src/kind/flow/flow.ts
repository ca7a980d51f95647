import * as v from "valibot";
import { lineOfText, map, milliseconds, whole } from "../../file/fields.ts";
import { limits } from "../../file/limits/limits.ts";
import type { FlowEvent, FlowPlan } from "../../flow/flow-plan.ts";
import type { ProducerPlan } from "../../flow/producer-plan.ts";
import { runFlow } from "../../flow/run-flow.ts";
import { defineKind } from "../../scenario/kind.ts";
import type { Kind } from "../../scenario/kind.ts";
import { flowEvents, problemsOfEvents } from "./flow-events.ts";
import { byFullName, full, NO_LIMITS, problemsOfLimits, withFullNames } from "./flow-limits.ts";
import { topicName } from "./flow-names.ts";
import { flowProducers, problemsOfProducers } from "./flow-producers.ts";
import type { FileProducer } from "./flow-producers.ts";
import { flowReport } from "./flow-report.ts";

const MAX_SECONDS = 86_400;

/** Producers against the limits of a gateway: the real client, server and broker in virtual time. */
export const flowKind: Kind = defineKind(
  {
    limits: v.optional(limits({ topic: topicName(), pattern: lineOfText() }), NO_LIMITS),
    producers: flowProducers(),
    events: v.optional(flowEvents(), []),
    link: v.optional(map({ rttMs: v.optional(milliseconds(0), 1) }), { rttMs: 1 }),
    store: v.optional(map({ latencyMs: v.optional(milliseconds(0), 1) }), { latencyMs: 1 }),
    durationS: whole(1, MAX_SECONDS),
  },
  async ({ title, seed, link, store, durationS, ...file }) => {
    const plan: FlowPlan = {
      limits: withFullNames(file.limits),
      producers: file.producers.map((producer) => producerPlan(producer, durationS)),
      events: file.events.map(eventWithFullNames),
      rttMs: link.rttMs,
      storeLatencyMs: store.latencyMs,
      durationS,
      seed,
    };
    const names = new Map(
      file.producers.map(({ topic }) => [full(topic), topic] as const).toReversed(),
    );
    const nameOf = (topic: string): string => names.get(topic) ?? topic;
    return flowReport(plan, await runFlow(plan), { title, nameOf });
  },
  ({ producers, events, limits: given, durationS }) => [
    ...problemsOfLimits(given),
    ...problemsOfProducers(producers, durationS),
    ...problemsOfEvents(events, { producers, limits: given, durationS }),
  ],
);

function producerPlan(producer: FileProducer, durationS: number): ProducerPlan {
  const { topic, aware, connection = producer.id, untilS = durationS, ...same } = producer;
  return {
    ...same,
    topic: full(topic),
    isAware: aware,
    connection: String(connection),
    untilS,
  };
}

function eventWithFullNames({ atMs, action }: FlowEvent): FlowEvent {
  if (action.do !== "limits") return { atMs, action };
  const { topics } = action.limits;
  return { atMs, action: { ...action, limits: { ...action.limits, topics: byFullName(topics) } } };
}
