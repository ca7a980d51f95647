import { countText, durationText, percentText } from "../../words/numbers.ts";
import { textAt, valueAt, withValue } from "../model/document.ts";
import type { Document } from "../model/document.ts";
import { numberField } from "../model/field.ts";
import type { Figure, LabKind, Outcome, Sentence, WordField } from "../model/kind.ts";
import { comparedText, numberAt, sumOf } from "./figures.ts";

const WORKERS = ["service", "workers"];
const isFixed = (document: Document): boolean => typeof document["algorithm"] === "number";

const algorithmField: WordField = {
  label: "algorithm",
  words: ["rfc", "vector", "fixed", "sluice"],
  getWord: (document) => (isFixed(document) ? "fixed" : textAt(document, ["algorithm"], "sluice")),
  setWord: (document, word) => ({ ...document, algorithm: word === "fixed" ? 20 : word }),
};

const HALF: Document = {
  kind: "concurrency",
  title: "half of the workers leave",
  algorithm: "vector",
  settings: { initialConcurrency: 1, maxConcurrencyLimit: 200 },
  client: { durationS: 60 },
  service: { workers: 30, serviceMs: 100, distribution: "lognormal", cv: 0.3 },
};

/** What the service could do at most: its workers over time ÷ the time of a request. */
function possible(document: Document): number | undefined {
  const [serviceMs, durationS] = [
    valueAt(document, ["service", "serviceMs"]),
    valueAt(document, ["client", "durationS"]),
  ];
  let workers = valueAt(document, WORKERS);
  if (typeof serviceMs !== "number" || typeof durationS !== "number" || typeof workers !== "number")
    return undefined;
  const schedule = valueAt(document, ["service", "schedule"]);
  let [sum, fromS] = [0, 0];
  for (const change of Array.isArray(schedule) ? (schedule as readonly unknown[]) : []) {
    const [atS, next] = [valueAt(change, ["atS"]), valueAt(change, ["workers"])];
    if (typeof atS !== "number" || typeof next !== "number") return undefined;
    sum += (Math.min(atS, durationS) - fromS) * Number(workers);
    [fromS, workers] = [Math.min(atS, durationS), next];
  }
  return ((sum + (durationS - fromS) * Number(workers)) * 1000) / serviceMs;
}

function figures({ rows, stats }: Outcome, document: Document): Figure[] {
  const served = numberAt(stats, "successes");
  const most = possible(document);
  const limits = rows.map((row) => Number(row["limit"] ?? 0));
  const goodput: Figure =
    most === undefined || served === null
      ? { name: "served", value: served, text: countText, better: 1 }
      : { name: "goodput of what is possible", value: served / most, text: percentText, better: 1 };
  return [
    goodput,
    {
      name: "RTT, middle",
      value: numberAt(stats, "rttMs", "p50"),
      text: durationText,
      none: "–",
      better: -1,
    },
    {
      name: "RTT, 99 of 100 within",
      value: numberAt(stats, "rttMs", "p99"),
      text: durationText,
      none: "–",
      better: -1,
    },
    {
      name: "busy or failed",
      value: sumOf(rows, "busyPerSecond") + sumOf(rows, "failedPerSecond"),
      text: countText,
      better: -1,
    },
    {
      name: "mean limit",
      value: limits.reduce((sum, limit) => sum + limit, 0) / Math.max(1, limits.length),
      text: (value) => value.toFixed(1),
      better: 0,
    },
  ];
}

function sentence(a: readonly Figure[], b: readonly Figure[]): Sentence {
  const [lead, rest] = comparedText(a[0], b[0], "gets");
  const [rttA, rttB] = [a[1]?.value, b[1]?.value];
  if (typeof rttA !== "number" || typeof rttB !== "number") return [lead, rest];
  return [
    lead,
    `${rest} Its middle RTT is `,
    durationText(rttB),
    `, against ${durationText(rttA)}.`,
  ];
}

export const concurrencyKind: LabKind = {
  id: "concurrency",
  name: "Concurrency",
  scenarios: ["concurrency"],
  fields: [
    algorithmField,
    numberField(["algorithm"], { label: "fixed limit", least: 1, most: 1_000, isUsed: isFixed }),
    numberField(["service", "serviceMs"], {
      label: "service time",
      unit: "ms",
      least: 5,
      most: 5_000,
      step: 5,
    }),
    numberField(["service", "cv"], {
      label: "its spread",
      unit: "×",
      least: 0,
      most: 3,
      step: 0.1,
      default: 1,
    }),
    numberField(["service", "queue"], {
      label: "queue",
      least: 0,
      most: 10_000,
      step: 10,
      default: 10_000,
    }),
    numberField(["client", "clients"], { label: "clients", least: 1, most: 16, default: 1 }),
    numberField(["settings", "initialConcurrency"], {
      label: "initialConcurrency",
      least: 1,
      most: 200,
      default: 1,
      isUsed: (document) => !isFixed(document),
    }),
    numberField(["settings", "maxConcurrencyLimit"], {
      label: "maxConcurrencyLimit",
      least: 1,
      most: 1_000,
      step: 5,
      default: 200,
      isUsed: (document) => !isFixed(document),
    }),
  ],
  presets: [
    {
      name: "half of the workers leave",
      a: HALF,
      b: { ...HALF, algorithm: "sluice" },
      traffic: { shape: "dip", peak: 30, seconds: 60 },
    },
    {
      name: "a limit chosen by hand",
      a: { ...HALF, algorithm: 60, title: "a limit by hand" },
      b: { ...HALF, algorithm: "sluice", title: "a limit by hand" },
      traffic: { shape: "dip", peak: 30, seconds: 60 },
    },
    {
      name: "four clients share a service",
      a: { ...withValue(HALF, ["client", "clients"], 4), title: "four clients" },
      b: {
        ...withValue(HALF, ["client", "clients"], 4),
        algorithm: "sluice",
        title: "four clients",
      },
      traffic: { shape: "steady", peak: 48, seconds: 60 },
    },
  ],
  curve: { name: "Workers", unit: "", least: 1, most: 500 },
  takesLive: false,
  withCurve: (document, values) => {
    const counts = values.map((value) => Math.max(0, Math.round(value)));
    const schedule = counts.flatMap((workers, atS) =>
      atS > 0 && workers !== counts[atS - 1] ? [{ atS, workers }] : [],
    );
    const service = { ...(document["service"] as Document), workers: counts[0] ?? 1, schedule };
    return withValue({ ...document, service }, ["client", "durationS"], values.length);
  },
  figures,
  sentence,
  nameOf: (document) =>
    isFixed(document)
      ? `fixed at ${textAt(document, ["algorithm"], "")}`
      : textAt(document, ["algorithm"], "sluice"),
  noteOf: () => "",
};
