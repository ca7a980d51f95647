import { countText, durationText, perSecondText } from "@sluice/gateway/internal";
import type { WhyFailed, WhyVertex, WhyWorking } from "../pipelines/admin/vertex-why.ts";
import { busyUntil, gateCause, gateLead } from "./gate-sentences.ts";
import { localName } from "./local-name.ts";
import { placeText } from "./place-text.ts";

/** Syncs of a member with its store after the store is back, until it has its share again. */
const HEAL_MS = 6_000;

/** Why a vertex waits, in one or two sentences. What is not known is left out. */
export function vertexSentence(why: WhyVertex): string {
  const parts = [leadOf(why), causeOf(why), backlogOf(why), behindOf(why)];
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part}.`)
    .join(" ");
}

/** When the wait ends; undefined if it is not known. */
export function vertexUntil({
  reason,
  share,
  gate,
  untilInMs,
  queue,
}: WhyVertex): string | undefined {
  const inTime = untilInMs === undefined ? undefined : durationText(untilInMs);
  if (reason === "store-lost") return `the store answers, then at most ${durationText(HEAL_MS)}`;
  if (reason === "fleet-joining")
    return "the fleet has given this member its share, about 2 s after its start";
  if (reason === "fleet-share") {
    const { max, rampLeftMs, members = 1 } = share ?? {};
    if (rampLeftMs !== undefined && max !== undefined)
      return `its share grows to ${perSecondText(max / Math.max(1, members))}, in about ${durationText(rampLeftMs)}`;
    if (queue !== undefined && queue > 0) return "the messages behind it are read";
  }
  if (reason === "concurrency")
    return inTime === undefined ? "the next answer" : `the next answer, in about ${inTime}`;
  if (reason === "peer-busy") {
    const back = gate && busyUntil(gate);
    if (back !== undefined) return back;
    return inTime === undefined
      ? "the service takes more again"
      : `the next request, in about ${inTime}`;
  }
  if (inTime === undefined) return undefined;
  if (reason === "retry-after") return `the pause of the service ends, in ${inTime}`;
  return `the next token, in ${inTime}`;
}

/** What changes the cause: a command, or an edit of the flow file; undefined if nothing here does. */
export function vertexTry(why: WhyVertex): string | undefined {
  const { reason, pipeline, vertex, share, setting, isAdaptive } = why;
  const line = placeText(setting?.place ?? "the flow file");
  if (reason === "rate") return `a higher rate in ${line}`;
  if (reason === "concurrency")
    return isAdaptive === false ? `a higher number, or adaptive, in ${line}` : undefined;
  if (reason === "store-lost")
    return "bring the store back; a smaller maxMembers gives a larger safe share";
  if (reason !== "fleet-share" || share?.max === undefined || share.rampLeftMs !== undefined)
    return undefined;
  return `sluice limits set vertex ${pipeline}/${vertex} max=${share.max * 2}`;
}

/** The setting with its value; of what no setting decides, the reason for that. */
export function vertexSetting({ reason, setting, isAdaptive, gate }: WhyVertex): string {
  if (setting === undefined) return reason === "retry-after" ? "none: the service decides" : "none";
  const { path, value, place, setAt } = setting;
  const shown = value === undefined ? "" : ` = ${valueText(value)}`;
  const where = setAt === undefined ? place && placeText(place) : `set by REST at ${setAt}`;
  const text = `${path}${shown}${where === undefined ? "" : `   ${where}`}`;
  if (reason !== "concurrency" || isAdaptive === false) return text;
  const atMost = gate?.limitMax === undefined ? "" : `, at most ${countText(gate.limitMax)}`;
  return `none needed: the limit finds itself${atMost}; ${text}`;
}

/** One word for what a vertex does with a batch. */
export function workingWord({ failure, waitsFor }: WhyWorking): "down" | "failing" | "working" {
  if (waitsFor !== undefined) return "down";
  return failure === undefined ? "working" : "failing";
}

/** What a vertex has worked on for long. */
export function workingSentence(why: WhyWorking): string {
  const { vertex, role, peer, messages, failure, waitsFor, forMs } = why;
  const what = messages === 1 ? "one message" : `a batch of ${countText(messages)} messages`;
  const time = durationText(forMs);
  if (waitsFor !== undefined) {
    const withBatch = messages === 0 ? "" : ` with ${what}`;
    return `${vertex} has waited${withBatch} for ${time}, ${waitsFor}.${standing(why)}`;
  }
  if (failure !== undefined)
    return `${vertex} has tried ${what} again and again for ${time}. The last try failed: ${failure}.${standing(why)}`;
  const silent = role === "map" ? "Its map" : (peer ?? "Its sink");
  return `${vertex} has been working on ${what} for ${time}. ${silent} has not answered.${standing(why)}`;
}

/** When the call is given up; undefined if it has no time limit. */
export function workingUntil(why: WhyWorking): string | undefined {
  const { role, failure, waitsFor, untilInMs } = why;
  if (waitsFor !== undefined && role === "source")
    return untilInMs === undefined
      ? "the source answers"
      : `a read succeeds; the next one is tried in ${durationText(untilInMs)}`;
  if (waitsFor !== undefined) {
    const next = untilInMs === undefined ? "" : `; the next try ends in ${durationText(untilInMs)}`;
    return `it can be started${next}`;
  }
  if (failure !== undefined) return "a try succeeds";
  return untilInMs === undefined
    ? undefined
    : `an answer; the call is given up in ${durationText(untilInMs)}`;
}

function standing(why: Pick<WhyWorking, "behind" | "vertex">): string {
  const text = behindOf(why);
  return text === "" ? "" : ` ${text}.`;
}

export function failedSentence({ pipeline, error, starts }: WhyFailed): string {
  const often = starts === 1 ? "" : ` It has failed ${starts} times in a row.`;
  return `Pipeline ${pipeline} does not run: ${error}.${often}`;
}

function leadOf(why: WhyVertex): string {
  const { vertex, role, peer, reason } = why;
  const of = peer === undefined ? "" : ` ${localName(peer)}`;
  if (reason === "store-lost") return `${vertex} runs on its safe share`;
  if (role === "source") return `${vertex} waits to read${of === "" ? "" : ` from${of}`}`;
  if (reason === "fleet-share" || reason === "fleet-joining" || reason === "fleet-refused")
    return `${vertex} waits to take messages${role === "sink" && of !== "" ? ` for${of}` : ""}`;
  return gateLead(why);
}

function causeOf(why: WhyVertex): string {
  const { reason, share, detail } = why;
  if (reason === "store-lost") {
    const { share: safe, storeAgeMs } = share ?? {};
    const age = storeAgeMs === undefined ? "" : ` for ${durationText(storeAgeMs)}`;
    const has = safe === undefined ? "" : ` of ${perSecondText(safe)}, its safe share`;
    return `The store has not answered${age} and the lease of this member has ended, so it has the rate${has}`;
  }
  if (reason === "fleet-joining") return "It has joined its fleet and has no share yet";
  const ofGate = gateCause(why);
  if (ofGate !== undefined) return ofGate;
  if (reason !== "fleet-share" || share?.share === undefined) return capital(detail);
  const { share: own, ceiling, members } = share;
  const by =
    members === undefined
      ? ""
      : ` by ${countText(members)} ${members === 1 ? "member" : "members"}`;
  const ramp = share.rampLeftMs === undefined ? ", and the ramp is at its max" : ", still ramping";
  if (ceiling === undefined) return `Its share is ${perSecondText(own)}${by}`;
  return ceiling === own && members === undefined
    ? `Its limit is ${perSecondText(own)}${ramp}`
    : `Its share is ${perSecondText(own)}: the ceiling of ${perSecondText(ceiling)}${by}${ramp}`;
}

function backlogOf({ queue, gate }: WhyVertex): string {
  // The requests that wait are these messages.
  if (gate !== undefined && gate.waiting > 0) return "";
  return queue === undefined || queue === 0 ? "" : `${countText(queue)} messages are behind it`;
}

function behindOf({ behind, vertex }: Pick<WhyVertex, "behind" | "vertex">): string {
  if (behind.length === 0) return "";
  const stand = behind.length === 1 ? "stands" : "stand";
  return `${behind.join(", ")} ${stand} behind it: the buffer of ${vertex} is full`;
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
