import type { LiveGate } from "../../../../src/live/live-message.ts";
import { clockTime } from "../clock-time.ts";
import { peerName } from "../names.ts";
import { countText, countedText, durationText, percentText, rateText } from "../numbers.ts";
import { capital, strong } from "../phrase.ts";
import type { Phrase } from "../phrase.ts";
import { behindText } from "./vertex-words.ts";
import type { VertexWhy } from "./vertex-words.ts";
import { sentences } from "./wait-words.ts";
import type { WaitWords } from "./wait-words.ts";

type GateWords = Pick<WaitWords, "lead" | "more" | "until" | "because">;

/** An answer that takes this much longer than the best one is slow. */
const SLOW = 1.2;

/** Requests that wait at the gate of a sink: for a rate, a permit, a busy service, or a pause that it asked for. */
export function gateWords(why: VertexWhy, gate: LiveGate | undefined, atMs: number): GateWords {
  const service = gate?.service ?? peerName(why.peer) ?? "its service";
  const behind = behindText(why);
  if (why.reason === "concurrency") return concurrencyWords(why, gate, service, behind);
  if (why.reason === "peer-busy") return busyWords(why, gate, service, behind);
  if (why.reason === "retry-after") return pauseWords(why, gate, { service, behind, atMs });
  return {
    lead: waiting(gate, service, "call"),
    more: sentences(limitOf(gate) ?? capital(why.detail), behind),
    until: inTime("next token in ", why.untilInMs),
    because: why.setting?.path.split(".").at(-1),
  };
}

/** "The gate sends at most 5/s (tokens)". */
function limitOf(gate: LiveGate | undefined): string | undefined {
  const { limit, name } = gate?.rate ?? {};
  if (limit === undefined) return undefined;
  return `The gate sends at most ${limit}${name === undefined ? "" : ` (${name})`}`;
}

function waiting(gate: LiveGate | undefined, service: string, what: string): Phrase {
  const count = gate?.waiting ?? 0;
  const who = count > 0 ? countedText(count, what) : capital(`${what}s`);
  return [strong(who), ` ${count === 1 ? "waits" : "wait"} to be sent to `, strong(service), "."];
}

function concurrencyWords(
  why: VertexWhy,
  gate: LiveGate | undefined,
  service: string,
  behind: string,
): GateWords {
  const lead = waiting(gate, service, "request");
  if (gate?.limit === undefined) return { lead, more: sentences(capital(why.detail), behind) };
  const { inFlight, limit, rttMs, bestRttMs, isAdaptive } = gate;
  const excess = rttMs === undefined || bestRttMs === undefined ? 0 : rttMs / bestRttMs - 1;
  const isSlow = excess >= SLOW - 1;
  const takes = rttMs === undefined ? "" : ` and each takes ${durationText(rttMs)}`;
  const longer =
    isSlow && rttMs !== undefined ? `, ${percentText(excess)} longer than at its best` : "";
  const so = longer !== "" && isAdaptive ? ", so the limit does not grow" : "";
  return {
    lead,
    more: sentences(
      `${countText(inFlight)} of ${countText(Math.floor(limit))} are in flight${takes}${longer}${so}`,
      behind,
    ),
    until: inTime(
      "next answer in about ",
      rttMs === undefined ? why.untilInMs : rttMs / Math.max(1, inFlight),
    ),
    because: isSlow ? `${service}, which answers slowly` : service,
  };
}

function busyWords(
  why: VertexWhy,
  gate: LiveGate | undefined,
  service: string,
  behind: string,
): GateWords {
  const lead = waiting(gate, service, "request");
  const { cut, allowed } = gate ?? {};
  if (cut === undefined)
    return { lead, more: sentences(capital(why.detail), behind), because: service };
  const from = cut.from === undefined ? "" : ` from ${rateText(cut.from)}`;
  const now =
    allowed === undefined || Math.round(allowed) === Math.round(cut.to)
      ? ""
      : ` and is now ${rateText(allowed)}`;
  return {
    lead,
    more: sentences(
      `It answered busy ${durationText(cut.agoMs)} ago, so the rate was cut${from} to ${rateText(cut.to)}${now}`,
      behind,
    ),
    until: backIn(gate) ?? inTime("next request in about ", why.untilInMs),
    because: service,
  };
}

/** "back at 310/s in about 12 s if it stays quiet"; undefined while the rate has not grown since the cut. */
function backIn(gate: LiveGate | undefined): Phrase | undefined {
  const { cut, allowed } = gate ?? {};
  if (cut?.from === undefined || allowed === undefined || allowed >= cut.from) return undefined;
  const grown = allowed - cut.to;
  if (grown <= 0 || cut.agoMs === 0) return undefined;
  const leftMs = ((cut.from - allowed) / grown) * cut.agoMs;
  const back = strong(rateText(cut.from));
  return ["back at ", back, " in about ", strong(durationText(leftMs)), " if it stays quiet"];
}

function pauseWords(
  why: VertexWhy,
  gate: LiveGate | undefined,
  {
    service,
    behind,
    atMs,
  }: { readonly service: string; readonly behind: string; readonly atMs: number },
): GateWords {
  const lead: Phrase = [strong("All requests"), " to ", strong(service), " wait."];
  const { pause } = gate ?? {};
  const leftMs = pause?.leftMs ?? why.untilInMs;
  if (pause === undefined)
    return {
      lead,
      more: sentences(capital(why.detail), behind),
      until: inTime("ends in ", leftMs),
      because: service,
    };
  const answered =
    pause.status === undefined ? "It asked" : `It answered ${pause.status} and asked`;
  return {
    lead,
    more: sentences(
      `${answered} for ${durationText(pause.pauseMs)}; nothing is sent before ${clockTime(atMs + pause.leftMs)}`,
      behind,
    ),
    until: inTime("ends in ", leftMs),
    because: service,
  };
}

function inTime(lead: string, ms: number | undefined): Phrase | undefined {
  return ms === undefined ? undefined : [lead, strong(durationText(ms))];
}
