import { SECOND_MS } from "@sluice/core/internal";
import * as v from "valibot";
import { nameOf } from "../../pool/pool-action.ts";
import type { PoolAction, PoolEvent } from "../../pool/pool-action.ts";
import { PROCESSES_MAX } from "../../pool/pool-simulation.ts";
import { field, list, map, real } from "../../file/fields.ts";
import type { Problem } from "../../file/problem.ts";
import { rateLimit } from "../rate-limit.ts";

const MAX_EVENTS = 100_000;
export const MAX_SECONDS = 100_000;

const ID = /^[A-Za-z0-9._-]{1,64}$/;
/** A second process with the id b is called b#2. */
const NAME = /^[A-Za-z0-9._-]{1,64}(#\d{1,5})?$/;

const seconds = real(0, MAX_SECONDS);
const id = field<string>(
  (value) => typeof value === "string" && ID.test(value),
  "an id of up to 64 letters, digits, dots, underscores and hyphens",
);
const name = field<string>(
  (value) => typeof value === "string" && NAME.test(value),
  "the id of a process, or b#2 for the second with the id b",
);
const always = field<true>((value) => value === true, "true");

/** The name under which events mean the store, not a process. */
const STORE = "store";

type EventSchema = v.GenericSchema<unknown, PoolEvent>;

/** What may happen, by the key that names it. */
const FORMS: Readonly<Record<string, EventSchema>> = {
  join: form({ t: seconds, join: id, asks: v.optional(real(0)) }, ({ join, asks }) => ({
    do: "join",
    id: join,
    asksPerSecond: asks,
  })),
  leave: form({ t: seconds, leave: name }, ({ leave }) => ({ do: "leave", name: leave })),
  crash: form({ t: seconds, crash: name }, ({ crash }) => ({ do: "crash", name: crash })),
  restart: form({ t: seconds, restart: name }, ({ restart }) => ({ do: "restart", name: restart })),
  demand: form({ t: seconds, demand: name, asks: v.optional(real(0)) }, ({ demand, asks }) => ({
    do: "demand",
    name: demand,
    asksPerSecond: asks,
  })),
  pause: form({ t: seconds, pause: name, forS: seconds }, ({ pause, forS }) => ({
    do: "pause",
    name: pause,
    forMs: forS * SECOND_MS,
  })),
  cut: form({ t: seconds, cut: name, forS: seconds }, ({ cut, forS }) => ({
    do: "cut",
    name: cut,
    forMs: forS * SECOND_MS,
  })),
  mute: form({ t: seconds, mute: name, forS: seconds }, ({ mute, forS }) => ({
    do: "mute",
    name: mute,
    forMs: forS * SECOND_MS,
  })),
  lose: form({ t: seconds, lose: name }, ({ lose }) => ({ do: "lose", name: lose })),
  storeDown: form({ t: seconds, storeDown: seconds }, ({ storeDown }) => ({
    do: "store-down",
    forMs: storeDown * SECOND_MS,
  })),
  flush: form({ t: seconds, flush: always }, () => ({ do: "flush" })),
  failover: form({ t: seconds, failover: always, lagS: v.optional(seconds, 0) }, ({ lagS }) => ({
    do: "failover",
    lagMs: lagS * SECOND_MS,
  })),
  limits: form({ t: seconds, limits: rateLimit() }, ({ limits }) => ({
    do: "limits",
    rateLimit: limits,
  })),
  clockStep: form(
    { t: seconds, clockStep: name, s: real(-MAX_SECONDS, MAX_SECONDS) },
    ({ clockStep, s }) =>
      clockStep === STORE
        ? { do: "store-clock-step", byMs: s * SECOND_MS }
        : { do: "clock-step", name: clockStep, byMs: s * SECOND_MS },
  ),
};

/** What happens to a pool, each event a map with one key that says what. */
export function poolEvents(): v.GenericSchema<unknown, PoolEvent[]> {
  const names = Object.keys(FORMS);
  const unknown = field<PoolEvent>(
    () => false,
    `a map with t and one of ${names.join(", ")}, such as { t: 0, join: a }`,
  );
  const event: EventSchema = v.lazy((value) => {
    if (typeof value !== "object" || value === null) return unknown;
    const found = names.find((each) => Object.hasOwn(value, each));
    return (found === undefined ? undefined : FORMS[found]) ?? unknown;
  });
  return list(event, MAX_EVENTS);
}

/** Events out of order, after the end, or about a process that is not there at that time. */
export function problemsOfEvents(
  events: readonly PoolEvent[],
  { untilS, maxMembers }: { readonly untilS: number; readonly maxMembers: number },
): Problem[] {
  const there = new Set<string>();
  let lastMs = 0;
  let started = 0;
  for (const [index, { atMs, action }] of events.entries()) {
    const t = atMs / SECOND_MS;
    if (atMs < lastMs)
      return wrong(index, `is at ${t} s, before the event above it; expected times in order`);
    if (t > untilS) return wrong(index, `is at ${t} s; expected at most untilS, ${untilS}`);
    lastMs = atMs;
    if (action.do === "join" || action.do === "restart") started++;
    if (started > PROCESSES_MAX)
      return wrong(index, `starts process ${started}; expected at most ${PROCESSES_MAX}`);
    if (action.do === "failover" && action.lagMs > atMs)
      return wrong(index, `has a lag of ${action.lagMs / SECOND_MS} s; expected at most t, ${t}`);
    const problem = problemOf(action, there, maxMembers);
    if (problem !== undefined) return wrong(index, problem);
  }
  return [];
}

function problemOf(action: PoolAction, there: Set<string>, maxMembers: number): string | undefined {
  if (action.do === "join") {
    there.add(nameOf(action.id, (each) => there.has(each)));
    if (there.size <= maxMembers) return undefined;
    return `makes ${there.size} processes; expected at most maxMembers, ${maxMembers}`;
  }
  if (!("name" in action)) return undefined;
  const { name: about } = action;
  if (!there.has(about))
    return `is about ${about}, which is not there then; expected one that has joined and not gone`;
  if (action.do === "leave" || action.do === "crash") there.delete(about);
  if (action.do === "restart") {
    // The new process has the id, which another process may have as its name by then.
    there.delete(about);
    there.add(nameOf(idOf(about), (each) => there.has(each)));
  }
  return undefined;
}

function idOf(about: string): string {
  return about.replace(/#\d+$/, "");
}

function wrong(index: number, message: string): Problem[] {
  return [{ path: ["events", index], message, isMissing: false }];
}

function form<const E extends v.ObjectEntries>(
  entries: E,
  toAction: (given: v.InferOutput<v.StrictObjectSchema<E, undefined>>) => PoolAction,
): EventSchema {
  return v.pipe(
    map(entries),
    v.transform((given): PoolEvent => {
      const { t } = given as { readonly t: number };
      return { atMs: t * SECOND_MS, action: toAction(given) };
    }),
  );
}
