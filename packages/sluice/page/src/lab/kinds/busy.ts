import { percentText, rateText, durationText } from "../../words/numbers.ts";
import { valueAt, withValue, textAt } from "../model/document.ts";
import type { Document } from "../model/document.ts";
import { numberField, wordField } from "../model/field.ts";
import type { Figure, LabKind, Outcome, Sentence } from "../model/kind.ts";
import { comparedText, numberAt, sumOf } from "./figures.ts";

const SLOW: Document = {
  kind: "overload",
  title: "slow for a while",
  rule: "table",
  clients: 1,
  service: {
    responseMs: 50,
    capacity: [
      { fromS: 0, perSecond: 800 },
      { fromS: 12, perSecond: 150 },
      { fromS: 36, perSecond: 800 },
    ],
  },
  durationS: 60,
};
const sluice = (document: Document): Document => ({ ...document, rule: "sluice" });
const isOverload = (document: Document): boolean => document["kind"] === "overload";
const capacity = (phase: number): readonly (string | number)[] => [
  "service",
  "capacity",
  phase,
  "perSecond",
];

function possible(rows: Outcome["rows"], document: Document): number {
  const phases = valueAt(document, ["service", "capacity"]);
  if (!Array.isArray(phases)) return sumOf(rows, "offered");
  return rows.reduce((sum, row) => {
    const at = Number(row["time"]);
    const phase = phases.findLast(
      (each: unknown) => Number(valueAt(each, ["fromS"])) <= at,
    ) as unknown;
    return sum + Math.min(Number(row["offered"]), Number(valueAt(phase, ["perSecond"]) ?? 0));
  }, 0);
}

function figures({ rows, stats }: Outcome, document: Document): Figure[] {
  if (!isOverload(document)) {
    const [sent, busy] = [sumOf(rows, "rps"), sumOf(rows, "busy")];
    return [
      { name: "sent", value: sent, text: (value) => String(Math.round(value)), better: 1 },
      {
        name: "answered busy",
        value: sent === 0 ? null : busy / sent,
        text: oneDecimal,
        none: "–",
        better: -1,
      },
    ];
  }
  const ok = sumOf(rows, "ok");
  const sent = sumOf(rows, "sent");
  const last = Array.isArray(stats) ? stats.length - 1 : 0;
  const seconds = numberAt(stats, last, "recoveredAfterS");
  return [
    {
      name: "of what was possible",
      value: ok / Math.max(1, possible(rows, document)),
      text: percentText,
      better: 1,
    },
    {
      name: "answered busy",
      value: sent === 0 ? 0 : sumOf(rows, "busy") / sent,
      text: oneDecimal,
      better: -1,
    },
    {
      name: "while slow",
      value: numberAt(stats, Math.min(1, last), "goodputRatio"),
      text: percentText,
      none: "–",
      better: 1,
    },
    {
      name: "full rate again after",
      value: seconds === null ? null : seconds * 1000,
      text: durationText,
      none: "never",
      better: -1,
    },
    {
      name: "sent at most in a second",
      value: Math.max(0, ...rows.map((row) => Number(row["sent"]))),
      text: rateText,
      better: 0,
    },
  ];
}

function oneDecimal(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function sentence(a: readonly Figure[], b: readonly Figure[]): Sentence {
  const [lead, rest] = comparedText(a[0], b[0], "gets through");
  const [busyA, busyB] = [a[1]?.value, b[1]?.value];
  if (typeof busyA !== "number" || typeof busyB !== "number") return [lead, rest];
  return [
    lead,
    `${rest} The service says busy to `,
    oneDecimal(busyB),
    ` of what it gets, against ${oneDecimal(busyA)}.`,
  ];
}

export const busyKind: LabKind = {
  id: "busy",
  name: "Busy",
  scenarios: ["overload", "busy"],
  fields: [
    wordField(["rule"], "rule", ["table", "prose", "sluice"]),
    numberField(capacity(0), {
      label: "capacity",
      unit: "/s",
      least: 1,
      most: 5_000,
      step: 10,
      isUsed: isOverload,
    }),
    numberField(capacity(1), {
      label: "while slow",
      unit: "/s",
      least: 0,
      most: 5_000,
      step: 10,
      isUsed: isOverload,
    }),
    numberField(["service", "responseMs"], {
      label: "answers after",
      unit: "ms",
      least: 1,
      most: 5_000,
      step: 5,
      isUsed: isOverload,
    }),
    numberField(["clients"], {
      label: "clients",
      least: 1,
      most: 32,
      default: 1,
      isUsed: isOverload,
    }),
  ],
  presets: [
    {
      name: "slow for 24 seconds",
      a: SLOW,
      b: sluice(SLOW),
      traffic: { shape: "steady", peak: 650, seconds: 60 },
    },
    {
      name: "traffic beyond the capacity",
      a: {
        ...withValue(
          SLOW,
          ["service", "capacity"],
          [
            { fromS: 0, perSecond: 300 },
            { fromS: 30, perSecond: 300 },
          ],
        ),
        rule: "prose",
        title: "beyond the capacity",
      },
      b: {
        ...withValue(
          sluice(SLOW),
          ["service", "capacity"],
          [
            { fromS: 0, perSecond: 300 },
            { fromS: 30, perSecond: 300 },
          ],
        ),
        title: "beyond the capacity",
      },
      traffic: { shape: "climb", peak: 500, seconds: 60 },
    },
    {
      name: "an outage of 24 seconds",
      a: { ...withValue(SLOW, capacity(1), 0), rule: "prose", title: "an outage" },
      b: { ...withValue(sluice(SLOW), capacity(1), 0), title: "an outage" },
      traffic: { shape: "steady", peak: 650, seconds: 60 },
    },
  ],
  curve: { name: "Traffic", unit: "/s", least: 1, most: 5_000 },
  takesLive: true,
  withCurve: (document, values) => {
    if (!isOverload(document)) return document;
    const phases = valueAt(document, ["service", "capacity"]);
    const fitting =
      Array.isArray(phases) && values.length > 0
        ? phases.filter((phase: unknown) => Number(valueAt(phase, ["fromS"])) < values.length)
        : phases;
    return {
      ...withValue(document, ["service", "capacity"], fitting),
      offeredPerSecond: values.map((value) => Math.round(value * 10) / 10),
      durationS: values.length,
    };
  },
  figures,
  sentence,
  nameOf: (document) => textAt(document, ["rule"], ""),
  noteOf: () => "",
};
