import { SECOND_MS } from "@sluice/core/internal";
import * as v from "valibot";
import { field, list, map, real, record, lineOfText } from "../../file/fields.ts";
import { show } from "../../file/show.ts";
import type { LimitsBlock } from "../../file/limits/limits.ts";
import { rateBlock } from "../../file/limits/rate.ts";
import type { RateBlock } from "../../file/limits/rate.ts";
import type { Problem } from "../../file/problem.ts";
import type { FlowAction, FlowEvent } from "../../flow/flow-plan.ts";
import { producerId, topicName } from "./flow-names.ts";
import type { FileProducer } from "./flow-producers.ts";

const EVENTS_MAX = 10_000;

const seconds = real(0, 1_000_000);

/** A new limit, or none. */
const change: v.GenericSchema<unknown, RateBlock | "none"> = v.lazy((value) =>
  value === "none" ? v.literal("none") : rateBlock(),
);

type EventSchema = v.GenericSchema<unknown, FlowEvent>;

/** What may happen, by the key that names it. */
const FORMS: Readonly<Record<string, EventSchema>> = {
  limits: form(
    {
      atS: seconds,
      limits: map({
        topics: v.optional(record(topicName(), change, "topics and their new limits"), {}),
        groups: v.optional(record(lineOfText(), change, "groups and their new limits"), {}),
        broker: v.optional(change),
      }),
    },
    ({ limits }) => ({ do: "limits", limits }),
  ),
  leave: form({ atS: seconds, leave: producerId() }, ({ leave }) => ({
    do: "leave",
    producer: leave,
  })),
  ignoreReceipts: form({ atS: seconds, ignoreReceipts: producerId() }, ({ ignoreReceipts }) => ({
    do: "ignore",
    producer: ignoreReceipts,
  })),
};

/** What happens during a run, each event a map with one key that says what. */
export function flowEvents(): v.GenericSchema<unknown, FlowEvent[]> {
  const names = Object.keys(FORMS);
  const unknown = field<FlowEvent>(
    () => false,
    `a map with atS and one of ${names.join(", ")}, such as { atS: 10, leave: p1 }`,
  );
  const event: EventSchema = v.lazy((value) => {
    if (typeof value !== "object" || value === null) return unknown;
    const found = names.find((each) => Object.hasOwn(value, each));
    return (found === undefined ? undefined : FORMS[found]) ?? unknown;
  });
  return list(event, EVENTS_MAX);
}

/** Events out of order, after the end, or about something that is not in the file. */
export function problemsOfEvents(
  events: readonly FlowEvent[],
  file: {
    readonly producers: readonly FileProducer[];
    readonly limits: LimitsBlock;
    readonly durationS: number;
  },
): Problem[] {
  const { producers, limits, durationS } = file;
  let lastMs = 0;
  for (const [index, { atMs, action }] of events.entries()) {
    const atS = atMs / SECOND_MS;
    if (atMs < lastMs)
      return wrong(index, `is at ${atS} s, before the event above it; expected times in order`);
    if (atS >= durationS)
      return wrong(index, `is at ${atS} s; expected less than durationS, ${durationS}`);
    lastMs = atMs;
    const message =
      action.do === "limits"
        ? problemOfGroups(Object.keys(action.limits.groups), limits)
        : problemOfProducer(action.producer, producers);
    if (message !== undefined) return wrong(index, message);
  }
  return [];
}

function problemOfGroups(names: readonly string[], { groups }: LimitsBlock): string | undefined {
  const unknown = names.find((name) => !Object.hasOwn(groups, name));
  if (unknown === undefined) return undefined;
  const known = Object.keys(groups).join(", ") || "none";
  return `changes the group ${show(unknown)}; expected one of limits.groups: ${known}`;
}

function problemOfProducer(id: string, producers: readonly FileProducer[]): string | undefined {
  if (producers.some((producer) => producer.id === id)) return undefined;
  const known = producers.slice(0, 10).map((producer) => producer.id);
  return `is about ${id}; expected the id of a producer: ${known.join(", ")}`;
}

function wrong(index: number, message: string): Problem[] {
  return [{ path: ["events", index], message, isMissing: false }];
}

function form<const E extends v.ObjectEntries>(
  entries: E,
  toAction: (given: v.InferOutput<v.StrictObjectSchema<E, undefined>>) => FlowAction,
): EventSchema {
  return v.pipe(
    map(entries),
    v.transform((given): FlowEvent => {
      const { atS } = given as { readonly atS: number };
      return { atMs: atS * SECOND_MS, action: toAction(given) };
    }),
  );
}
