import type { Random } from "@sluice/core";
import * as v from "valibot";
import { counted } from "../report/words.ts";
import { field, list, map, milliseconds, oneOf, real, whole } from "../file/fields.ts";
import type { EventLoop } from "../simulation/engine/event-loop.ts";
import { LoadedService } from "../simulation/services/loaded-service.ts";
import type { LoadResponse } from "../simulation/services/loaded-service.ts";
import { QueueingService } from "../simulation/services/queueing-service.ts";
import type { ServiceChange } from "../simulation/services/queueing-service.ts";
import type { Service } from "../simulation/services/service.ts";

/** The service that a scenario describes. */
export interface ServicePlan {
  readonly create: (loop: EventLoop, random: Random) => Service;
  /** What changes during the run, for the chart. */
  readonly changes: readonly { readonly atS: number; readonly label: string }[];
}

const MAX_CHANGES = 10_000;
const MAX_WORKERS = 1_000_000;

/** In each of these 0 means none. */
const loadResponse = map({
  scale: v.optional(real(0), 0),
  kneeStart: v.optional(whole(0), 0),
  kneeExp: v.optional(real(0), 0),
  limit: v.optional(whole(0), 0),
  action: v.optional(oneOf("defer", "drop"), "defer"),
});

const NO_RESPONSE: LoadResponse = {
  scale: 0,
  kneeStart: 0,
  kneeExp: 0,
  limit: 0,
  action: "defer",
};

const loaded = v.pipe(
  map({
    delayMs: milliseconds(0),
    jitter: v.optional(real(0, 1000), 0),
    concurrency: v.optional(loadResponse, NO_RESPONSE),
    rate: v.optional(loadResponse, NO_RESPONSE),
    rejectMs: v.optional(milliseconds(0)),
  }),
  v.transform((options): ServicePlan => ({
    create: (loop, random) =>
      new LoadedService(loop, random, { ...options, rejectMs: options.rejectMs }),
    changes: [],
  })),
);

const queueing = v.pipe(
  map({
    workers: whole(0, MAX_WORKERS),
    serviceMs: milliseconds(0),
    distribution: v.optional(oneOf("constant", "exponential", "lognormal"), "exponential"),
    cv: v.optional(real(0, 1000), 1),
    queue: v.optional(whole(0)),
    rejectMs: v.optional(milliseconds(0), 1),
    schedule: v.optional(
      list(
        map({
          atS: real(0),
          workers: v.optional(whole(0, MAX_WORKERS)),
          serviceMs: v.optional(milliseconds(0)),
        }),
        MAX_CHANGES,
      ),
      [],
    ),
  }),
  v.transform((options): ServicePlan => ({
    create: (loop, random) =>
      new QueueingService(loop, random, { ...options, queue: options.queue }),
    changes: options.schedule.map((change) => ({ atS: change.atS, label: labelOf(change) })),
  })),
);

function labelOf({ workers, serviceMs }: ServiceChange): string {
  const parts = [
    ...(workers === undefined ? [] : [counted(workers, "worker")]),
    ...(serviceMs === undefined ? [] : [`${serviceMs} ms`]),
  ];
  return parts.join(", ");
}

/** A service whose delay depends on its load, or one with workers and a queue. */
export function service(): v.GenericSchema<unknown, ServicePlan> {
  const either = field<never>(
    () => false,
    "a map with delayMs (delays that depend on load) or with workers (a queue)",
  );
  return v.lazy((value): v.GenericSchema<unknown, ServicePlan> => {
    if (typeof value !== "object" || value === null) return either;
    if ("workers" in value) return queueing;
    return "delayMs" in value ? loaded : either;
  });
}
