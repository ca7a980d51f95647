import { countText, durationText, percentText, rateText } from "../../words/numbers.ts";
import { secondsOf, valueAt, withValue } from "../model/document.ts";
import type { Document } from "../model/document.ts";
import { numberField } from "../model/field.ts";
import type { Figure, LabKind, Outcome, Sentence, WordField } from "../model/kind.ts";
import { comparedText, numberAt } from "./figures.ts";

const MODES = ["scheduled", "relaxed", "onlyIfUsed", "goBackN"];
const BLOCK = ["rateLimit", "modes"];

function modeOf(document: Document): string {
  const modes = valueAt(document, BLOCK);
  const [mode = "relaxed"] = typeof modes === "object" && modes !== null ? Object.keys(modes) : [];
  return mode;
}

/** What each mode was set to last, so that going to another mode and back loses nothing. */
const MODE_DEFAULTS: Readonly<Record<string, Document>> = {
  onlyIfUsed: { thresholdPercentage: 50 },
  goBackN: { thresholdPercentage: 50, coolDownPeriod: "5s", rampDownPercentage: 100 },
};

const modeField: WordField = {
  label: "mode",
  words: MODES,
  getWord: modeOf,
  setWord: (document, mode) => withValue(document, BLOCK, { [mode]: MODE_DEFAULTS[mode] ?? {} }),
};

const duration = {
  read: secondsOf,
  write: (value: number): string => `${value}s`,
};

const isMode =
  (...modes: readonly string[]) =>
  (document: Document): boolean =>
    modes.includes(modeOf(document));

/** A number of the mode that is chosen. */
function modeNumber(
  key: string,
  options: Parameters<typeof numberField>[1],
): LabKind["fields"][number] {
  const field = (document: Document) => numberField([...BLOCK, modeOf(document), key], options);
  return {
    ...numberField([key], options),
    get: (document) => field(document).get(document),
    set: (document, value) => field(document).set(document, value),
  };
}

const rateFields = [
  modeField,
  numberField(["rateLimit", "min"], {
    label: "min",
    unit: "/s",
    least: 0,
    most: 100_000,
    step: 5,
    default: 1,
  }),
  numberField(["rateLimit", "max"], {
    label: "max",
    unit: "/s",
    least: 1,
    most: 1_000_000,
    step: 10,
  }),
  numberField(["rateLimit", "rampUpDuration"], {
    label: "rampUpDuration",
    unit: "s",
    least: 1,
    most: 600,
    ...duration,
    default: 1,
  }),
  modeNumber("thresholdPercentage", {
    label: "thresholdPercentage",
    unit: "%",
    least: 0,
    most: 100,
    isUsed: isMode("onlyIfUsed", "goBackN"),
    default: 50,
  }),
  modeNumber("coolDownPeriod", {
    label: "coolDownPeriod",
    unit: "s",
    least: 1,
    most: 120,
    isUsed: isMode("goBackN"),
    ...duration,
    default: 5,
  }),
  modeNumber("rampDownPercentage", {
    label: "rampDownPercentage",
    unit: "%",
    least: 0,
    most: 100,
    step: 5,
    isUsed: isMode("goBackN"),
    default: 50,
  }),
];

const BURSTS: Document = {
  kind: "ramp",
  title: "bursts with gaps",
  rateLimit: {
    max: 1000,
    min: 100,
    rampUpDuration: "30s",
    modes: { goBackN: { thresholdPercentage: 50, coolDownPeriod: "5s", rampDownPercentage: 100 } },
  },
  members: 4,
};
const RELAXED = withValue(BURSTS, BLOCK, { relaxed: {} });

function figures({ stats, rows }: Outcome): Figure[] {
  if (numberAt(stats, "used") === null) return callFigures(rows);
  const ms = (key: string): number | null => {
    const seconds = numberAt(stats, key);
    return seconds === null ? null : seconds * 1000;
  };
  return [
    { name: "let through", value: numberAt(stats, "used"), text: countText, better: 1 },
    { name: "longest wait", value: ms("longestWaitS"), text: durationText, better: -1 },
    {
      name: "longest wait after a gap",
      value: ms("longestWaitAfterGapS"),
      text: durationText,
      none: "no gap",
      better: -1,
    },
    { name: "most waiting", value: numberAt(stats, "mostWaiting"), text: countText, better: -1 },
    {
      name: "reaches its max after",
      value: ms("reachedMaxAfterS"),
      text: durationText,
      none: "never",
      better: -1,
    },
    {
      name: "first second after a gap",
      value: numberAt(stats, "firstAfterGap"),
      text: rateText,
      none: "no gap",
      better: 0,
    },
    {
      name: "granted but not used",
      value: numberAt(stats, "unusedRatio"),
      text: percentText,
      better: 0,
    },
  ];
}

/** Of a file that says who calls when, as the tables of Numaflow's document do. */
function callFigures(rows: Outcome["rows"]): Figure[] {
  const used = rows.reduce((sum, row) => sum + Number(row["used"] ?? 0), 0);
  const ceiling = rows.reduce((most, row) => Math.max(most, Number(row["ceiling"] ?? 0)), 0);
  return [
    { name: "let through", value: used, text: countText, better: 1 },
    { name: "highest ceiling", value: ceiling, text: rateText, better: 0 },
  ];
}

function sentence(a: readonly Figure[], b: readonly Figure[]): Sentence {
  const [lead, rest] = comparedText(a[0], b[0], "lets through");
  const isGap = a[2]?.value !== null && b[2]?.value !== null && a[2] !== undefined && a.length > 2;
  const wait = [a[isGap ? 2 : 1]?.value, b[isGap ? 2 : 1]?.value];
  const [waitA, waitB] = wait;
  if (a.length <= 2 || typeof waitA !== "number" || typeof waitB !== "number") return [lead, rest];
  const when = isGap ? " after a gap" : "";
  const parts: string[] = [lead, rest];
  if (Math.abs(waitA - waitB) < 50)
    parts[1] += ` The longest wait${when} is ${durationText(waitA)} in both`;
  else if (waitB < 50)
    parts[1] += ` With B nobody waits${when}, with A up to ${durationText(waitA)}`;
  else if (waitA < 50)
    parts[1] += ` With A nobody waits${when}, with B up to ${durationText(waitB)}`;
  else
    parts.splice(
      1,
      1,
      `${rest} The longest wait${when} is `,
      durationText(waitB),
      ` with B, ${durationText(waitA)} with A`,
    );
  const [firstA, firstB] = [a[5]?.value, b[5]?.value];
  if (typeof firstA !== "number" || typeof firstB !== "number") return ended(parts);
  if (firstB > firstA * 1.2)
    return [
      ...parts.slice(0, -1),
      `${parts.at(-1) ?? ""}; but the service gets `,
      rateText(firstB),
      ` at once, not ${rateText(firstA)}.`,
    ];
  if (firstB < firstA * 0.8)
    return ended([
      ...parts.slice(0, -1),
      `${parts.at(-1) ?? ""}; and the service is spared: ${rateText(firstB)} at first, not ${rateText(firstA)}`,
    ]);
  return ended(parts);
}

function ended(parts: readonly string[]): Sentence {
  return [...parts.slice(0, -1), `${parts.at(-1) ?? ""}.`];
}

export const rampKind: LabKind = {
  id: "ramp",
  name: "Ramp",
  scenarios: ["ramp"],
  fields: [
    ...rateFields,
    numberField(["members"], { label: "members", least: 1, most: 64, default: 1 }),
  ],
  presets: [
    {
      name: "bursts with gaps",
      a: BURSTS,
      b: RELAXED,
      traffic: { shape: "bursts", peak: 640, seconds: 120 },
    },
    {
      name: "a morning's climb",
      a: { ...RELAXED, title: "a morning's climb" },
      b: { ...withValue(RELAXED, BLOCK, { scheduled: {} }), title: "a morning's climb" },
      traffic: { shape: "day", peak: 1200, seconds: 120 },
    },
    {
      name: "a short spike",
      a: { ...withValue(RELAXED, ["rateLimit", "min"], 100), title: "a short spike" },
      b: { ...withValue(RELAXED, ["rateLimit", "min"], 500), title: "a short spike" },
      traffic: { shape: "spike", peak: 900, seconds: 120 },
    },
  ],
  curve: { name: "Traffic", unit: "/s", least: 1, most: 1_000_000 },
  takesLive: true,
  withCurve: (document, values) => {
    const { calls: _, ...rest } = document;
    return { ...rest, offered: values.map(Math.round) };
  },
  figures,
  sentence,
  nameOf: modeOf,
  noteOf: (document) => {
    const [min, max, ramp] = [rateFields[1], rateFields[2], rateFields[3]].map((field) =>
      field !== undefined && "get" in field ? field.get(document) : undefined,
    );
    return min === undefined || max === undefined
      ? ""
      : `${countText(min)} → ${countText(max)}/s in ${ramp ?? 1} s`;
  },
};

/** The settings of a rate that a pool has too. */
export const RATE_FIELDS: LabKind["fields"] = rateFields;
