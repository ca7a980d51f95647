import { countText, durationText, perSecondText } from "@sluice/gateway/internal";
import type { WhyGate } from "../pipelines/admin/vertex-gate.ts";
import type { WhyVertex } from "../pipelines/admin/vertex-why.ts";

/** Part above the best time of a request that is worth a word: less is noise. */
const LONGER_MIN = 0.1;

/** What waits in front of a service: "108 requests wait to be sent to payments". */
export function gateLead({ reason, gate, vertex, peer }: WhyVertex): string {
  const to = gate?.service ?? peer ?? "its service";
  if (reason === "retry-after") return `All requests to ${to} wait`;
  const { waiting = 0 } = gate ?? {};
  if (waiting === 0) return `Requests of ${vertex} wait to be sent to ${to}`;
  return waiting === 1
    ? `1 request waits to be sent to ${to}`
    : `${countText(waiting)} requests wait to be sent to ${to}`;
}

/** Why, in the numbers of the gate; undefined if they are not known. */
export function gateCause({ reason, gate }: WhyVertex): string | undefined {
  if (gate === undefined) return undefined;
  if (reason === "concurrency") return concurrencyCause(gate);
  if (reason === "peer-busy") return busyCause(gate);
  if (reason === "retry-after") return pauseCause(gate);
  if (reason === "rate") return rateCause(gate);
  return undefined;
}

/** When the rate of a busy service is back, if no further busy answer comes; undefined if that is not known. */
export function busyUntil({ cut, allowed }: WhyGate): string | undefined {
  if (cut?.from === undefined || allowed === undefined || allowed >= cut.from) return undefined;
  // It has grown by this much since the cut; a rate that did not grow yet tells nothing.
  const grown = allowed - cut.to;
  if (grown <= 0 || cut.agoMs === 0) return undefined;
  const leftMs = ((cut.from - allowed) / grown) * cut.agoMs;
  return `it is back at ${perSecondText(cut.from)}, in about ${durationText(leftMs)} if it stays quiet`;
}

function concurrencyCause(gate: WhyGate): string | undefined {
  const { inFlight, limit, rttMs, bestRttMs, isAdaptive } = gate;
  if (limit === undefined) return undefined;
  const full = `${countText(inFlight)} of ${countText(limit)} are in flight`;
  if (rttMs === undefined) return full;
  const longer = bestRttMs === undefined ? 0 : rttMs / bestRttMs - 1;
  const each = `${full} and each takes ${durationText(rttMs)}`;
  if (longer < LONGER_MIN) return each;
  const percent = `${each}, ${Math.round(longer * 100)} % longer than at its best`;
  return isAdaptive ? `${percent}, so the limit does not grow` : percent;
}

function busyCause({ cut, allowed }: WhyGate): string | undefined {
  if (cut === undefined) return undefined;
  const from = cut.from === undefined ? "" : `from ${perSecondText(cut.from)} `;
  const now = allowed === undefined ? "" : ` and is now ${perSecondText(allowed)}`;
  return `It answered busy ${durationText(cut.agoMs)} ago, so the rate was cut ${from}to ${perSecondText(cut.to)}${now}`;
}

function pauseCause({ pause }: WhyGate): string | undefined {
  if (pause === undefined) return undefined;
  const answered = pause.status === undefined ? "" : `answered ${pause.status} and `;
  return `It ${answered}asked for a pause of ${durationText(pause.pauseMs)}; nothing is sent before it ends`;
}

function rateCause({ rate }: WhyGate): string | undefined {
  if (rate?.limit === undefined) return undefined;
  const name = rate.name === undefined ? "" : ` (${rate.name})`;
  return `The gate sends at most ${rate.limit}${name}`;
}
