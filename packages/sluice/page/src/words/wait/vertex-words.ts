import type { LiveGate, LiveSample, LiveWait } from "../../../../src/live/live-message.ts";
import { gateWords } from "./gate-words.ts";
import { peerName } from "../names.ts";
import { countText, countedText, durationText, rateText } from "../numbers.ts";
import { capital, strong } from "../phrase.ts";
import type { Phrase } from "../phrase.ts";
import { sentences } from "./wait-words.ts";
import type { WaitWords } from "./wait-words.ts";

export type VertexWhy = Extract<LiveWait, { readonly kind: "vertex" }>["why"];

/** The time until a member has its share again after its store is back: its lease of 5 s and two syncs, ms. */
const HEAL_MS = 6_000;

/** A vertex that waits for its share of a rate, for the store, or for its gate. */
export function vertexWords(why: VertexWhy, sample: LiveSample): WaitWords {
  const { reason, forMs } = why;
  const gate = gateOf(why, sample);
  switch (reason) {
    case "fleet-share":
    case "fleet-joining":
    case "fleet-refused":
      return { reason, forMs, ...shareWords(why) };
    case "store-lost":
      return { reason, forMs, ...lostWords(why) };
    case "rate":
    case "concurrency":
    case "peer-busy":
    case "retry-after":
      return { reason, forMs, ...gateWords(why, gate, sample.atMs) };
    case "topic-rate":
    case "group-rate":
    case "broker-rate":
    case "connection-pending":
    case "memory":
      // Of a gateway that a sink publishes to.
      return {
        reason,
        forMs,
        lead: [...leadOf(why), "."],
        more: sentences(capital(why.detail), behindText(why)),
      };
  }
}

/** "in and enrich stand behind it: the buffer of out is full"; empty if none does. */
export function behindText({
  behind,
  vertex,
}: {
  readonly behind: readonly string[];
  readonly vertex: string;
}): string {
  if (behind.length === 0) return "";
  const names = [behind.slice(0, -1).join(", "), behind.at(-1)].filter((one) => one !== "");
  const stand = behind.length === 1 ? "stands" : "stand";
  return `${names.join(" and ")} ${stand} behind it: the buffer of ${vertex} is full`;
}

function gateOf({ pipeline, vertex }: VertexWhy, { pipelines }: LiveSample): LiveGate | undefined {
  const found = pipelines.find(({ name }) => name === pipeline);
  return found?.vertices.find(({ name }) => name === vertex)?.gate;
}

function leadOf({ vertex, role, peer }: VertexWhy): Phrase {
  const name = peerName(peer);
  const of = name === undefined ? [] : [strong(name)];
  if (role === "source")
    return [strong(vertex), " waits to read", ...(name === undefined ? [] : [" from ", ...of])];
  return [
    strong(vertex),
    " waits to take messages",
    ...(role === "sink" && name !== undefined ? [" for ", ...of] : []),
  ];
}

function shareWords(why: VertexWhy): Pick<WaitWords, "lead" | "more" | "until" | "because"> {
  const { reason, share, queue, detail, role } = why;
  const lead: Phrase = [...leadOf(why), "."];
  const behind = behindText(why);
  if (reason === "fleet-joining")
    return {
      lead,
      more: sentences("It has joined its fleet and has no share yet", behind),
      until: ["until the fleet has given it a share, about ", strong("2 s"), " after its start"],
    };
  if (reason === "fleet-refused" || share?.share === undefined)
    return { lead, more: sentences(capital(detail), behind) };
  const source = role === "source" ? peerName(why.peer) : undefined;
  const hasQueue = queue !== undefined && queue > 0;
  return {
    lead,
    more: sentences(
      shareText(share.share, share),
      hasQueue ? `${countText(queue)} messages are behind it` : "",
      behind,
    ),
    until: growth(share) ?? (hasQueue ? ["until the backlog is read"] : undefined),
    because: hasQueue && source !== undefined ? `the backlog in ${source}` : undefined,
  };
}

type Share = NonNullable<VertexWhy["share"]>;

/** "Its share is 222/s: the ceiling of 888/s by 4 members, still ramping". */
function shareText(own: number, { ceiling, members, rampLeftMs }: Share): string {
  const ramp = rampLeftMs === undefined ? ", and the ramp is at its max" : ", still ramping";
  if (members === undefined || members <= 1) return `Its limit is ${rateText(own)}${ramp}`;
  const by = `by ${countedText(members, "member")}`;
  if (ceiling === undefined) return `Its share is ${rateText(own)} ${by}${ramp}`;
  return `Its share is ${rateText(own)}: the ceiling of ${rateText(ceiling)} ${by}${ramp}`;
}

function growth({ max, members = 1, rampLeftMs }: Share): Phrase | undefined {
  if (rampLeftMs === undefined || max === undefined) return undefined;
  const grown = rateText(max / Math.max(1, members));
  const what = members > 1 ? "share" : "limit";
  return [`${what} grows to `, strong(grown), " in ", strong(durationText(rampLeftMs))];
}

function lostWords(why: VertexWhy): Pick<WaitWords, "lead" | "more" | "until" | "because"> {
  const { vertex, share } = why;
  const safe: Phrase = share?.share === undefined ? [] : [" of ", strong(rateText(share.share))];
  const age = share?.storeAgeMs;
  const forAge = age === undefined ? "" : ` for ${durationText(age)}`;
  return {
    lead: [strong(vertex), " runs on its safe share", ...safe, "."],
    more: sentences(
      `The store has not answered${forAge} and this member's lease has ended`,
      behindText(why),
    ),
    until: ["until the store answers, then at most ", strong(durationText(HEAL_MS))],
    because: "the store",
  };
}
