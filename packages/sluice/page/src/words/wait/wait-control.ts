import type { LiveSample, LiveWait } from "../../../../src/live/live-message.ts";
import { fairTurns } from "../fair-turns.ts";
import { topicName } from "../names.ts";
import { bytesText, countText, rateText } from "../numbers.ts";
import { namesPhrase, plainText } from "../phrase.ts";

/** What stands beside a wait: the number that changes it, what it is set to, or who decides. */
export type WaitControl =
  | NumberControl
  /** A setting of the flow file that is not changed while the flow runs. */
  | {
      readonly kind: "note";
      readonly setting: string;
      readonly text: string;
      readonly place?: string | undefined;
    }
  /** Nothing here shortens the wait. */
  | { readonly kind: "none"; readonly text: string };

interface NumberControl {
  readonly kind: "number";
  readonly setting: string;
  readonly of: string;
  readonly value: number;
  readonly unit: string;
  readonly step: number;
  /** The words of its path behind `/api/limits/`, and the body that sets it. */
  readonly words: readonly string[];
  readonly body: (value: number) => Readonly<Record<string, number>>;
  readonly effect: (value: number) => string | undefined;
}

const MEGABYTE = 1_000_000;
const KILOBYTE = 1_000;

export function waitControl(wait: LiveWait, sample: LiveSample): WaitControl {
  switch (wait.kind) {
    case "publish":
      return publishControl(wait.why, sample);
    case "paused": {
      const [first] = wait.whys;
      if (first === undefined) return { kind: "none", text: "" };
      const { memory, pending, held, setting } = first;
      // The setting is of all memory; of the bound of held frames only its part is known here.
      const bound =
        memory !== undefined
          ? `held frames get ${bytesText(memory.max)} of it`
          : pending === undefined
            ? bytesText(held?.max)
            : countText(pending.max);
      return { kind: "note", setting: setting.path, text: bound, place: setting.place };
    }
    case "vertex":
      return vertexControl(wait.why, sample);
    case "working": {
      const { setting } = wait.why;
      if (setting === undefined) return { kind: "none", text: "Sluice tries it again by itself." };
      return {
        kind: "note",
        setting: setting.path,
        text: valueText(setting.value),
        place: setting.place,
      };
    }
    case "failed":
      return { kind: "none", text: "Sluice starts it again by itself." };
  }
}

type PublishWhy = Extract<LiveWait, { readonly kind: "publish" }>["why"];
type VertexWhy = Extract<LiveWait, { readonly kind: "vertex" }>["why"];

function publishControl(why: PublishWhy, sample: LiveSample): WaitControl {
  const { limit, setting } = why;
  const { target } = setting;
  const name = "name" in target ? topicName(target.name) : "this gateway";
  const words = "name" in target ? [target.level, target.name] : [target.level];
  const isBytes = limit.messages === undefined || isBoundByBytes(why, sample);
  const { bytes = 0, messages = 0 } = limit;
  if (!isBytes)
    return {
      kind: "number",
      setting: `${setting.path}.messages`,
      of: target.level === "group" ? `Group ${name}` : name,
      value: messages,
      unit: "/s",
      step: stepOf(messages),
      words,
      body: (value) => ({ messages: value, ...(limit.bytes !== undefined && { bytes }) }),
      effect: (value) => publishEffect(value, why, sample),
    };
  const size = bytes >= MEGABYTE && bytes % MEGABYTE === 0 ? MEGABYTE : KILOBYTE;
  const value = Math.round(bytes / size);
  return {
    kind: "number",
    setting: `${setting.path}.bytes`,
    of: name,
    value,
    unit: size === MEGABYTE ? " MB/s" : " kB/s",
    step: stepOf(value),
    words,
    body: (wanted) => ({
      bytes: wanted * size,
      ...(limit.messages !== undefined && { messages }),
    }),
    effect: () => undefined,
  };
}

/** Whether the bytes of a topic are nearer to their limit than its messages. */
function isBoundByBytes({ topic, limit }: PublishWhy, { gateway }: LiveSample): boolean {
  const found = gateway?.topics.find(({ name }) => topicName(name) === topicName(topic));
  if (found === undefined || limit.bytes === undefined || limit.messages === undefined)
    return false;
  return found.rate.bytes / limit.bytes > found.rate.messages / limit.messages;
}

/** A step that is a round tenth: 100 of 1,000, 500 of 5,000. */
function stepOf(value: number): number {
  if (value < 20) return 1;
  const power = 10 ** Math.floor(Math.log10(value / 10));
  return value / 10 >= 5 * power ? 5 * power : power;
}

/** "Accepts 1,500/s. bulk-import still waits."; undefined if some of the demand is not known. */
function publishEffect(
  limit: number,
  why: PublishWhy,
  { gateway }: LiveSample,
): string | undefined {
  const { reason, asked } = why;
  if (limit < 1) return undefined;
  if (reason !== "topic-rate") {
    if (asked === undefined) return undefined;
    const whose = reason === "group-rate" ? "Nobody in the group waits." : "Nobody waits for it.";
    return limit >= asked ? whose : `Still ${rateText(asked - limit)} too few.`;
  }
  const producers = (gateway?.producers ?? []).filter(
    ({ topic }) => topicName(topic) === topicName(why.topic),
  );
  const asks = producers.map((one) => one.asked ?? one.rate);
  if (producers.length === 0 || (gateway?.producersLeftOut.count ?? 0) > 0)
    return asked === undefined ? undefined : `Accepts ${rateText(Math.min(limit, asked))}.`;
  const { gets: got } = fairTurns(asks, limit);
  const total = got.reduce((sum, one) => sum + one, 0);
  const still = producers.filter((_, index) => (asks[index] ?? 0) - (got[index] ?? 0) > 1);
  const before = why.limit.messages ?? 0;
  const accepts = `${limit >= before ? "Accepts" : "Accepts only"} ${rateText(total)}.`;
  if (still.length === 0) return `${accepts} Nobody waits.`;
  const names = plainText(namesPhrase(still.map(({ name }) => name)));
  return `${accepts} ${names} still ${still.length === 1 ? "waits" : "wait"}.`;
}

function vertexControl(why: VertexWhy, sample: LiveSample): WaitControl {
  const { reason, share, setting, pipeline, vertex, isAdaptive } = why;
  if (reason === "retry-after" || setting === undefined)
    return { kind: "none", text: reason === "retry-after" ? "The service decides." : "" };
  const { place } = setting;
  const max = share?.max;
  if (reason === "fleet-share" && max !== undefined) {
    const members = Math.max(1, share?.members ?? 1);
    return {
      kind: "number",
      setting: setting.path,
      of: `${vertex}, max`,
      value: max,
      unit: "/s",
      step: stepOf(max),
      words: ["vertex", pipeline, vertex],
      body: (value) => ({ max: value }),
      effect: (value) =>
        value < 1
          ? undefined
          : `${members > 1 ? "Share" : "Limit"} becomes ${rateText(value / members)} when the ramp is done.`,
    };
  }
  if (reason === "concurrency") {
    const found = sample.pipelines.find(({ name }) => name === pipeline);
    const gate = found?.vertices.find(({ name }) => name === vertex)?.gate;
    const most = gate?.limitMax === undefined ? "" : `, at most ${countText(gate.limitMax)}`;
    const text = isAdaptive === false ? `fixed at ${countText(gate?.limit)}` : `adaptive${most}`;
    return { kind: "note", setting: setting.path, text, place };
  }
  return { kind: "note", setting: setting.path, text: valueText(setting.value), place };
}

/** A value of the flow file on one line. */
function valueText(value: unknown): string {
  if (value === undefined) return "as it is by default";
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([key, one]) => `${key} ${typeof one === "string" ? one : JSON.stringify(one)}`)
      .join(", ");
  return JSON.stringify(value);
}
