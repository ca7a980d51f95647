import { durationText, percentText } from "../../words/numbers.ts";
import { textAt } from "../model/document.ts";
import type { Document } from "../model/document.ts";
import { numberField, wordField } from "../model/field.ts";
import type { Figure, LabKind, Outcome, Sentence } from "../model/kind.ts";
import { comparedText, numberAt } from "./figures.ts";
import { RATE_FIELDS } from "./ramp.ts";

const DOCUMENT: Document = {
  kind: "pool",
  title: "members come and go",
  protocol: "document",
  rateLimit: { max: 1000, min: 1000, rampUpDuration: "1s" },
  store: { maxMembers: 64 },
  events: [],
  untilS: 60,
};
const sluice = (document: Document): Document => ({ ...document, protocol: "sluice" });

/** A member leaves without a word, and the store is gone for a while. */
const FAULTS: Document = {
  ...DOCUMENT,
  title: "a crash and a lost store",
  events: [
    ...["a", "b", "c", "d"].map((id) => ({ t: 0, join: id })),
    { t: 15, crash: "b" },
    { t: 28, join: "e" },
    { t: 38, storeDown: 8 },
  ],
};

function figures({ stats }: Outcome): Figure[] {
  const wait = numberAt(stats, "joinerWaitS");
  const figure = (name: string, key: string, better: Figure["better"]): Figure => ({
    name,
    value: numberAt(stats, key),
    text: percentText,
    none: "never whole",
    better,
  });
  return [
    figure("shares add up to, on average", "meanSumRatio", 1),
    figure("shares add up to at least", "minSumRatio", 1),
    figure("shares add up to at most", "maxSumRatio", -1),
    figure("granted at most in a second", "maxWindowRatio", -1),
    {
      name: "longest wait of a joiner",
      value: wait === null ? null : wait * 1000,
      text: durationText,
      none: "still waits",
      better: -1,
    },
  ];
}

function sentence(a: readonly Figure[], b: readonly Figure[]): Sentence {
  const [lead, rest] = comparedText(a[0], b[0], "hands out");
  const [mostA, mostB] = [a[3]?.value, b[3]?.value];
  if (typeof mostA !== "number" || typeof mostB !== "number") return [lead, rest];
  return [
    lead,
    `${rest} In its worst second it grants `,
    percentText(mostB),
    ` of the ceiling, against ${percentText(mostA)}.`,
  ];
}

/** Joins and leaves that make the number of members follow the curve. The last one to join leaves first. */
function eventsOf(values: readonly number[]): Document[] {
  const events: Document[] = [];
  let members = 0;
  for (const [t, value] of values.entries()) {
    const wanted = Math.max(0, Math.round(value));
    while (members < wanted) events.push({ t, join: `m${++members}` });
    while (members > wanted) events.push({ t, leave: `m${members--}` });
  }
  return events;
}

export const poolKind: LabKind = {
  id: "pool",
  name: "Pool",
  scenarios: ["pool"],
  fields: [
    wordField(["protocol"], "protocol", ["document", "sluice"], "sluice"),
    wordField(["share"], "share", ["demand", "equal"], "demand"),
    wordField(["pacing"], "pacing", ["smooth", "epoch"], "smooth"),
    ...RATE_FIELDS.slice(1, 4),
    numberField(["store", "syncIntervalMs"], {
      label: "syncInterval",
      unit: "ms",
      least: 100,
      most: 5_000,
      step: 50,
      default: 500,
    }),
    numberField(["store", "leaseMs"], {
      label: "lease",
      unit: "ms",
      least: 500,
      most: 60_000,
      step: 250,
      default: 5_000,
    }),
    numberField(["store", "latencyMs"], {
      label: "store answers after",
      unit: "ms",
      least: 0,
      most: 200,
      default: 1,
    }),
  ],
  presets: [
    {
      name: "members come and go",
      a: DOCUMENT,
      b: sluice(DOCUMENT),
      traffic: { shape: "day", peak: 8, seconds: 40 },
    },
    { name: "a crash and a lost store", a: FAULTS, b: sluice(FAULTS) },
    {
      name: "twice as many, and back",
      a: DOCUMENT,
      b: sluice(DOCUMENT),
      traffic: { shape: "dip", peak: 8, seconds: 40 },
    },
  ],
  curve: { name: "Members", unit: "", least: 1, most: 32 },
  takesLive: false,
  withCurve: (document, values) => ({
    ...document,
    events: eventsOf(values),
    untilS: values.length,
  }),
  figures,
  sentence,
  nameOf: (document) => textAt(document, ["protocol"], "sluice"),
  noteOf: (document) => `ceiling ${textAt(document, ["rateLimit", "max"], "")}/s`,
};
