import type { VertexState } from "@sluice/pipeline";
import type { FlowVertex } from "../../flow/pipeline/flow-pipeline.ts";
import type { GateCounts } from "../observe/gate-counts.ts";

/** The gate of an HTTP sink, in parts: sentences of its four reasons are made of them. */
export interface WhyGate {
  /** The service, as the flow file calls it; else its host. */
  readonly service: string;
  /** Whether the limit of requests in flight finds itself. */
  readonly isAdaptive: boolean;
  readonly inFlight: number;
  readonly limit?: number | undefined;
  /** The bound of the limit, if one is set. */
  readonly limitMax?: number | undefined;
  /** Requests that wait to be sent. */
  readonly waiting: number;
  /** The moving mean of the time that requests take, and the lowest that it was in the last minutes. */
  readonly rttMs?: number | undefined;
  readonly bestRttMs?: number | undefined;
  /** Requests a second that the busy throttle allows; absent while it allows all. */
  readonly allowed?: number | undefined;
  /** The last cut of the rate after busy answers; `from` is absent if there was no limit before. */
  readonly cut?:
    | { readonly from?: number | undefined; readonly to: number; readonly agoMs: number }
    | undefined;
  /** The pause that the service asked for, while it lasts. */
  readonly pause?:
    | { readonly leftMs: number; readonly pauseMs: number; readonly status?: number | undefined }
    | undefined;
  /** The rate that holds requests now, and its setting, such as "500/min". */
  readonly rate?: { readonly name?: string | undefined; readonly limit?: string | undefined };
}

interface RequestBlock {
  readonly concurrency?: unknown;
  readonly rate?: unknown;
  readonly rates?: Readonly<Record<string, unknown>>;
}

/** The highest limit of a flow file that sets none: `concurrency.max` of `request`. */
const LIMIT_MAX = 200;

/** A cut is told for this long: after that the rate has mostly grown back, ms. */
const CUT_MS = 300_000;

/** Undefined for a vertex without a gate. */
export function gateOf(
  { gate, waiting }: VertexState,
  vertex: FlowVertex | undefined,
  counts: GateCounts | undefined,
  nowMs: number,
): WhyGate | undefined {
  if (gate === undefined || vertex === undefined) return undefined;
  const { lastCut, lastPause } = counts ?? {};
  const leftMs = gate.pausedForMs;
  const request = requestOf(vertex);
  return {
    service: serviceOf(vertex),
    isAdaptive: isAdaptive(vertex),
    inFlight: gate.inFlight,
    limit: gate.limit,
    limitMax: isAdaptive(vertex) ? (numberIn(request.concurrency, "max") ?? LIMIT_MAX) : undefined,
    waiting: gate.waiting,
    rttMs: roundedMs(gate.meanMs),
    bestRttMs: roundedMs(gate.bestMs),
    allowed: gate.allowed === undefined ? undefined : Math.round(gate.allowed * 10) / 10,
    ...(lastCut !== undefined &&
      nowMs - lastCut.atMs < CUT_MS && {
        cut: {
          from: lastCut.from === undefined ? undefined : Math.round(lastCut.from),
          to: Math.round(lastCut.to),
          agoMs: Math.max(0, Math.round(nowMs - lastCut.atMs)),
        },
      }),
    ...(leftMs !== undefined && {
      pause: {
        leftMs: Math.ceil(leftMs),
        pauseMs: Math.ceil(Math.max(leftMs, lastPause?.pauseMs ?? 0)),
        status: gate.refusedStatus,
      },
    }),
    ...(waiting?.reason === "rate" && {
      rate: { name: gate.rate, limit: rateText(request, gate.rate) },
    }),
  };
}

/** Whether the limit of requests in flight finds itself. */
export function isAdaptive(vertex: FlowVertex): boolean {
  return typeof (requestOf(vertex).concurrency ?? "adaptive") !== "number";
}

/** The name of the service of an HTTP sink, else its host, without secrets. */
function serviceOf({ sink }: FlowVertex): string {
  const name = sink?.options["name"];
  if (typeof name === "string") return name;
  const url = sink?.options["url"];
  return typeof url === "string" && URL.canParse(url) ? new URL(url).host : "its service";
}

function requestOf({ sink }: FlowVertex): RequestBlock {
  return (sink?.options["request"] as RequestBlock | undefined) ?? {};
}

function rateText({ rate, rates }: RequestBlock, name: string | undefined): string | undefined {
  const given = name === undefined ? rate : (rates?.[name] ?? rate);
  return typeof given === "string" ? given : undefined;
}

function numberIn(value: unknown, key: string): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Reflect.get(value, key);
  return typeof found === "number" ? found : undefined;
}

function roundedMs(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 10) / 10;
}
