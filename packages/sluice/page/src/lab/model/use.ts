import type { LiveSample } from "../../../../src/live/live-message.ts";
import { limitPath } from "../../api/change-limit.ts";
import type { LimitChange } from "../../api/change-limit.ts";
import { valueAt } from "./document.ts";
import type { LabState } from "./state.ts";

/** A setting of B that the running flow can take over now. */
export interface Usable {
  /** "orders / in", "public/default/orders". */
  readonly of: string;
  readonly change: LimitChange;
  /** `max 1000, min 100`. */
  readonly text: string;
}

/** What B could be put into force for; a sentence if there is nothing. */
export function usable(state: LabState, sample: LiveSample | undefined): Usable | string {
  if (sample === undefined) return "No running flow is known to this page.";
  switch (state.kind.id) {
    case "ramp":
    case "pool":
      return rateOf(state, sample);
    case "publish":
      return topicOf(state, sample);
    default:
      return "The gate of a sink reads its rule and its algorithm at the start: write them into the flow file, under request.";
  }
}

function rateOf({ b }: LabState, { pipelines }: LiveSample): Usable | string {
  const found = pipelines
    .flatMap(({ name, vertices }) => vertices.map((vertex) => ({ pipeline: name, vertex })))
    .find(({ vertex }) => vertex.share !== undefined);
  if (found === undefined) return "No vertex of the running flow has a rateLimit.";
  const { pipeline, vertex } = found;
  const body = Object.fromEntries(
    ["max", "min", "rampUpDuration"].flatMap((key) => {
      const value = valueAt(b, ["rateLimit", key]);
      return typeof value === "number" || typeof value === "string" ? [[key, value] as const] : [];
    }),
  );
  return {
    of: `${pipeline} / ${vertex.name}`,
    change: { path: limitPath("vertex", pipeline, vertex.name), body },
    text: wordsOf(body),
  };
}

function topicOf({ b }: LabState, { gateway }: LiveSample): Usable | string {
  const topics = (gateway?.topics ?? []).toSorted((x, y) => y.asked - x.asked);
  const topic = topics.find(({ limit }) => limit?.messages !== undefined) ?? topics[0];
  if (topic === undefined) return "The running flow has no topic that is published to.";
  const [limit] = Object.values(
    (valueAt(b, ["limits", "topics"]) ?? {}) as Readonly<Record<string, unknown>>,
  );
  const messages = valueAt(limit, ["messages"]);
  if (typeof messages !== "string") return "B has no limit of a topic in messages.";
  return {
    of: topic.name,
    change: { path: limitPath("topic", topic.name), body: { messages } },
    text: wordsOf({ messages }),
  };
}

function wordsOf(body: LimitChange["body"]): string {
  return Object.entries(body)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(", ");
}
