import { FixedLimit, RfcLimit, SluiceLimit, VectorLimit } from "@sluice/core";
import type { LimitAlgorithm, Random } from "@sluice/core";
import * as v from "valibot";
import { runConcurrency } from "../simulation/concurrency/run-concurrency.ts";
import type { SimulationResult } from "../simulation/concurrency/run-concurrency.ts";
import { concurrencyRows, concurrencyStats } from "../simulation/concurrency/concurrency-stats.ts";
import type {
  ConcurrencyRow,
  ConcurrencyStats,
} from "../simulation/concurrency/concurrency-stats.ts";
import type { Chart, Point, Series } from "../chart/chart.ts";
import { counted } from "../report/words.ts";
import { field, list, map, milliseconds, oneOf, real, whole } from "../file/fields.ts";
import { defineKind } from "../scenario/kind.ts";
import type { Problem } from "../file/problem.ts";
import type { Kind, Run } from "../scenario/kind.ts";
import { service } from "./service.ts";

const MAX_LIMIT = 1_000_000;
const MAX_CLIENTS = 1000;
const MAX_REQUESTS = 20_000_000;
/**
 * Requests that arrive by `intervalMs`. Each takes at least three of the 100 million events of a
 * run.
 */
const MAX_OFFERED = 30_000_000;
/** A finer grid would be lost in the rounding of instants. */
const MIN_QUANTUM_MS = 0.001;
const MAX_BACKOFFS = 1000;
const MAX_SECONDS = 100_000;
/** End of a run without a duration whose requests are never all served. */
const REQUESTS_MAX_S = 3600;

/** Vector's back-off, a Fibonacci sequence up to 30 s. */
const FIBONACCI_MS = [1000, 2000, 3000, 5000, 8000, 13_000, 21_000, 30_000];

const ALGORITHMS = ["sluice", "vector", "rfc"] as const;

type Algorithm = (typeof ALGORITHMS)[number] | number;

interface Settings {
  readonly initialConcurrency: number;
  readonly decreaseRatio: number;
  readonly ewmaAlpha: number;
  readonly rttDeviationScale: number;
  readonly maxConcurrencyLimit: number;
}

const DEFAULTS: Settings = {
  initialConcurrency: 1,
  decreaseRatio: 0.9,
  ewmaAlpha: 0.4,
  rttDeviationScale: 2.5,
  maxConcurrencyLimit: 200,
};

/** Clients with more to send than a service can take, each behind an adaptive limit. */
export const concurrencyKind: Kind = defineKind(
  {
    algorithm: v.optional(algorithm(), "sluice"),
    layering: v.optional(oneOf("per-attempt", "whole-request"), "per-attempt"),
    settings: v.optional(
      map({
        initialConcurrency: v.optional(whole(1, MAX_LIMIT), DEFAULTS.initialConcurrency),
        decreaseRatio: v.optional(between(0, 1), DEFAULTS.decreaseRatio),
        ewmaAlpha: v.optional(between(0, 1), DEFAULTS.ewmaAlpha),
        rttDeviationScale: v.optional(real(0), DEFAULTS.rttDeviationScale),
        maxConcurrencyLimit: v.optional(whole(1, MAX_LIMIT), DEFAULTS.maxConcurrencyLimit),
      }),
      DEFAULTS,
    ),
    client: map({
      requests: v.optional(whole(1, MAX_REQUESTS)),
      durationS: v.optional(real(0.001, MAX_SECONDS)),
      intervalMs: v.optional(milliseconds(0), 0),
      timeoutMs: v.optional(milliseconds(0.001), 1000),
      backoffMs: v.optional(backoff(), FIBONACCI_MS),
      backoffJitter: v.optional(oneOf("none", "full"), "none"),
      clients: v.optional(whole(1, MAX_CLIENTS), 1),
      joinEveryS: v.optional(real(0, MAX_SECONDS), 0),
      bursts: v.optional(list(map({ atS: real(0, MAX_SECONDS), requests: whole(1) }), 1000), []),
    }),
    service: service(),
    timerQuantumMs: v.optional(quantum(), 1),
  },
  (scenario): Run => {
    const { algorithm: chosen, layering, settings, client, seed, title } = scenario;
    const result = runConcurrency({
      seed,
      timerQuantumMs: scenario.timerQuantumMs,
      createService: scenario.service.create,
      createAlgorithm: (random) => createAlgorithm(chosen, settings, random),
      load: {
        clients: client.clients,
        joinEveryS: client.joinEveryS,
        intervalMs: client.intervalMs,
        bursts: client.bursts,
        requests: client.requests,
        durationS: client.durationS ?? REQUESTS_MAX_S,
      },
      retry: { ...client, layering },
    });
    return toRun(result, {
      title: title || "Adaptive concurrency",
      subtitle: `${named(chosen)}, ${layering}, ${counted(client.clients, "client")}`,
      markers: [
        ...scenario.service.changes.map(({ atS, label }) => ({ x: atS, label })),
        ...client.bursts.map(({ atS, requests }) => ({ x: atS, label: `burst of ${requests}` })),
      ],
    });
  },
  ({ client, settings, algorithm: chosen }) => {
    if (client.requests === undefined && client.durationS === undefined) {
      const message = "has no end; expected requests or durationS";
      return [{ path: ["client"], message, isMissing: true }];
    }
    return [
      ...problemsOfInterval(client),
      ...(typeof chosen === "number" ? [] : problemsOfBounds(settings)),
    ];
  },
);

function problemsOfBounds({ initialConcurrency, maxConcurrencyLimit }: Settings): Problem[] {
  if (initialConcurrency <= maxConcurrencyLimit) return [];
  const message = `is ${initialConcurrency}; expected at most maxConcurrencyLimit, ${maxConcurrencyLimit}`;
  return [{ path: ["settings", "initialConcurrency"], message, isMissing: false }];
}

function problemsOfInterval(client: {
  readonly clients: number;
  readonly intervalMs: number;
  readonly durationS?: number | undefined;
  readonly requests?: number | undefined;
}): Problem[] {
  const { clients, intervalMs, durationS, requests } = client;
  if (durationS === undefined || requests !== undefined || intervalMs === 0) return [];
  const offered = (clients * durationS * 1000) / intervalMs;
  if (offered <= MAX_OFFERED) return [];
  const message = `comes to ${Math.ceil(offered)} requests in durationS, over all clients; at most ${MAX_OFFERED} are run`;
  return [{ path: ["client", "intervalMs"], message, isMissing: false }];
}

function algorithm(): v.GenericSchema<Algorithm> {
  return field<Algorithm>(
    (value) => {
      if (typeof value === "number") {
        return Number.isInteger(value) && value >= 1 && value <= MAX_LIMIT;
      }
      return ALGORITHMS.some((name) => name === value);
    },
    `${ALGORITHMS.join(" or ")}, or a whole number from 1 to ${MAX_LIMIT} for a fixed limit`,
  );
}

function quantum(): v.GenericSchema<number> {
  const isQuantum = (value: unknown): boolean =>
    value === 0 || (typeof value === "number" && value >= MIN_QUANTUM_MS && value <= 1000);
  return field(isQuantum, `0, or a number from ${MIN_QUANTUM_MS} to 1000`);
}

/** More than `low` and less than `high`. */
function between(low: number, high: number): v.GenericSchema<number> {
  return field(
    (value) => typeof value === "number" && value > low && value < high,
    `a number between ${low} and ${high}`,
  );
}

function backoff(): v.GenericSchema<unknown, number[]> {
  return v.pipe(
    list(milliseconds(0), MAX_BACKOFFS),
    v.minLength(1, "is empty; expected one time at least"),
  );
}

function createAlgorithm(chosen: Algorithm, settings: Settings, random: Random): LimitAlgorithm {
  if (typeof chosen === "number") return new FixedLimit(chosen);
  const { initialConcurrency, maxConcurrencyLimit, ewmaAlpha } = settings;
  const { decreaseRatio, rttDeviationScale } = settings;
  const bounds = { initialLimit: initialConcurrency, maxLimit: maxConcurrencyLimit };
  if (chosen === "sluice") return new SluiceLimit({ ...bounds, random });
  if (chosen === "rfc") return new RfcLimit({ ...bounds, ewmaAlpha });
  return new VectorLimit({ ...bounds, ewmaAlpha, decreaseRatio, rttDeviationScale });
}

function named(chosen: Algorithm): string {
  return typeof chosen === "number" ? `fixed at ${chosen}` : `algorithm ${chosen}`;
}

const COLUMNS = [
  "t",
  "limit",
  "inFlight",
  "rttMs",
  "goodputPerSecond",
  "busyPerSecond",
  "failedPerSecond",
] as const;

function toRun(
  result: SimulationResult,
  heading: Pick<Chart, "title" | "subtitle" | "markers">,
): Run {
  const rows = concurrencyRows(result);
  const stats = concurrencyStats(result);
  const points = (key: (typeof COLUMNS)[number]): Point[] =>
    rows.map((row) => ({ x: row.t, y: row[key] ?? undefined }));
  // A rate or a mean over a part of a row cannot be compared with the others.
  const wholeRows = (key: (typeof COLUMNS)[number]): Point[] =>
    points(key).map((point, row) =>
      rows[row]?.lengthS === undefined ? point : { x: point.x, y: undefined },
    );
  return {
    rows,
    stats,
    columns: COLUMNS.map((name) => ({ name, cell: (row) => cell(rows[row]?.[name]) })),
    closing: [...partialNote(rows.at(-1)), closingOf(stats)].join("\n"),
    chart: () => ({
      ...heading,
      x: { label: "time", unit: "s" },
      y: { label: "attempts in flight", isWhole: true },
      series: [
        { label: "in flight", shape: "bar", points: wholeRows("inFlight") },
        { label: "limit", shape: "step", points: points("limit") },
      ],
      below: [
        {
          y: { label: "round trip", unit: "ms" },
          series: [{ label: "mean round trip", shape: "line", points: points("rttMs") }],
        },
        {
          y: { label: "attempts", unit: "per second" },
          series: [
            { label: "served", shape: "bar", points: wholeRows("goodputPerSecond") },
            unlessNone("busy", wholeRows("busyPerSecond")),
            unlessNone("failed", wholeRows("failedPerSecond")),
          ],
        },
      ],
    }),
  };
}

/** A line along zero would hide the axis; the legend says that there is nothing. */
function unlessNone(label: string, points: Point[]): Series {
  const isNone = points.every(({ y = 0 }) => y === 0);
  return { label: isNone ? `${label}: none` : label, shape: "step", points: isNone ? [] : points };
}

function cell(value: ConcurrencyRow[keyof ConcurrencyRow] | undefined): string {
  return value === null || value === undefined ? "-" : String(value);
}

function partialNote(last: ConcurrencyRow | undefined): string[] {
  if (last?.lengthS === undefined) return [];
  return [`the last row covers ${last.lengthS} s; its rates are over that time`];
}

function closingOf({
  successes,
  attempts,
  elapsedS,
  goodputPerSecond,
  rttMs,
}: ConcurrencyStats): string {
  const p99 = rttMs.p99 === null ? "nothing served" : `p99 ${rttMs.p99.toFixed(1)} ms`;
  return `${successes} served of ${attempts} attempts in ${elapsedS.toFixed(2)} s: ${goodputPerSecond.toFixed(1)} a second, ${p99}`;
}
