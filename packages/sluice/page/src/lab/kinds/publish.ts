import { bytesText, durationText, percentText, rateText } from "../../words/numbers.ts";
import { perSecondOf, textAt, valueAt, withValue } from "../model/document.ts";
import type { Document } from "../model/document.ts";
import { numberField, wordField } from "../model/field.ts";
import type { Figure, LabKind, Outcome, Sentence } from "../model/kind.ts";
import { comparedText, numberAt } from "./figures.ts";

const TOPIC = "orders";
const STEADY = 0;
const NOISY = 1;

const DOCUMENT: Document = {
  kind: "publish",
  title: "one noisy producer",
  limits: { topics: { [TOPIC]: { messages: "1000/s" } } },
  turns: "arrival",
  producers: [
    { id: "steady", topic: TOPIC, perSecond: 100, count: 4, batch: 10 },
    { id: "noisy", topic: TOPIC, perSecond: 3000, batch: 50 },
  ],
  durationS: 60,
};
const fair = (document: Document): Document => ({ ...document, turns: "fair" });

/** The topic that the first producer writes to; its limit is the one that is dragged. */
function topicOf(document: Document): string {
  return textAt(document, ["producers", STEADY, "topic"], TOPIC);
}

const limitField = {
  ...numberField([], {
    label: "limit of the topic",
    unit: "/s",
    least: 1,
    most: 1_000_000,
    step: 50,
  }),
  get: (document: Document): number | undefined =>
    perSecondOf(valueAt(document, ["limits", "topics", topicOf(document), "messages"])),
  set: (document: Document, value: number): Document =>
    withValue(
      document,
      ["limits", "topics", topicOf(document), "messages"],
      `${Math.round(value)}/s`,
    ),
};

function idAt(document: Document, index: number): string {
  return textAt(document, ["producers", index, "id"], "");
}

function figures({ stats }: Outcome, document: Document): Figure[] {
  const [first, second] = [idAt(document, STEADY), idAt(document, NOISY)];
  const of = (id: string, ...key: readonly string[]): number | null =>
    numberAt(stats, "producers", id, ...key);
  const [accepted, offered] = [of(first, "accepted"), of(first, "offered")];
  const held = valueAt(stats, ["connections"]);
  const most = Object.values((held ?? {}) as Readonly<Record<string, unknown>>).map(
    (each) => numberAt(each, "heldBytesMax") ?? 0,
  );
  return [
    {
      name: `${first} producers get`,
      value: accepted === null || !offered ? null : accepted / offered,
      text: percentText,
      none: "–",
      better: 1,
    },
    {
      name: "their longest wait",
      value: of(first, "longestWaitMs"),
      text: durationText,
      none: "–",
      better: -1,
    },
    {
      name: `the ${second || "other"} one gets`,
      value: of(second, "perSecond"),
      text: rateText,
      none: "–",
      better: 0,
    },
    {
      name: "its longest wait",
      value: of(second, "longestWaitMs"),
      text: durationText,
      none: "–",
      better: 0,
    },
    {
      name: "held at most",
      value: most.reduce((sum, bytes) => sum + bytes, 0),
      text: bytesText,
      better: -1,
    },
  ];
}

function sentence(a: readonly Figure[], b: readonly Figure[]): Sentence {
  const [lead, rest] = comparedText(a[0], b[0], "gives the well-behaved");
  const [waitA, waitB] = [a[1]?.value, b[1]?.value];
  if (typeof waitA !== "number" || typeof waitB !== "number") return [lead, rest];
  return [
    lead,
    `${rest} Their longest wait is `,
    durationText(waitB),
    `, against ${durationText(waitA)}.`,
  ];
}

export const publishKind: LabKind = {
  id: "publish",
  name: "Publish",
  scenarios: ["publish"],
  fields: [
    wordField(["turns"], "turns", ["arrival", "fair"], "fair"),
    limitField,
    numberField(["producers", STEADY, "count"], {
      label: "well-behaved producers",
      least: 1,
      most: 64,
      default: 1,
    }),
    numberField(["producers", STEADY, "perSecond"], {
      label: "each asks for",
      unit: "/s",
      least: 1,
      most: 10_000,
      step: 5,
    }),
    numberField(["limits", "maxHoldMs"], {
      label: "maxHoldMs",
      unit: "ms",
      least: 100,
      most: 25_000,
      step: 100,
      default: 5_000,
    }),
  ],
  presets: [
    {
      name: "one noisy producer",
      a: DOCUMENT,
      b: fair(DOCUMENT),
      traffic: { shape: "steady", peak: 4800, seconds: 60 },
    },
    {
      name: "a noisy producer in bursts",
      a: { ...fair(DOCUMENT), title: "a noisy producer in bursts" },
      b: {
        ...withValue(fair(DOCUMENT), ["limits", "topics", TOPIC, "messages"], "1600/s"),
        title: "a noisy producer in bursts",
      },
      traffic: { shape: "bursts", peak: 3000, seconds: 60 },
    },
  ],
  curve: { name: "Traffic", unit: "/s", least: 10, most: 100_000 },
  takesLive: true,
  withCurve: (document, values) => ({
    ...withValue(document, ["producers", NOISY, "perSecond"], values.map(Math.round)),
    durationS: values.length,
  }),
  figures,
  sentence,
  nameOf: (document) => (document["turns"] === "arrival" ? "in order of arrival" : "fair turns"),
  noteOf: (document) => {
    const limit = limitField.get(document);
    return limit === undefined ? "" : `limit ${rateText(limit)}`;
  },
};
