import type { Reason } from "@sluice/core";
import { formatWallTime } from "@sluice/core/system";
import { durationText, parseDurationMs } from "@sluice/core/internal";
import type { VertexState, VertexWork } from "@sluice/pipeline";
import { roleOf } from "../../flow/pipeline/flow-pipeline.ts";
import type { FlowPipeline, FlowVertex } from "../../flow/pipeline/flow-pipeline.ts";
import type { PipelineView, Throttled } from "../pipeline-view.ts";
import { effectiveOf } from "../vertex-limits.ts";
import { shownUrl } from "../define/shown-url.ts";
import { isNamed, isShown } from "./known-names.ts";
import { gateOf, isAdaptive } from "./vertex-gate.ts";
import type { WhyGate } from "./vertex-gate.ts";

type Path = readonly (string | number)[];

/** The share that a vertex has of its limit. */
interface WhyShare {
  /** Messages a second; undefined before the first read. */
  readonly share?: number | undefined;
  readonly ceiling?: number | undefined;
  /** The top and the bottom of the ramp. */
  readonly max?: number | undefined;
  readonly min?: number | undefined;
  /** When the ramp is at its top if it goes on as it does, ms. */
  readonly rampLeftMs?: number | undefined;
  readonly members?: number | undefined;
  /** Time since the store answered last, ms. */
  readonly storeAgeMs?: number | undefined;
}

/** Where the cause is set. */
interface VertexSetting {
  /** A key of the flow file, as people write it. */
  readonly path: string;
  readonly value?: unknown;
  /** As "flow.yaml:12". */
  readonly place?: string | undefined;
  /** When it was set while the pipeline ran. */
  readonly setAt?: string | undefined;
}

/** Why a vertex waits, in parts: the command line and the dashboard make sentences of them. */
export interface WhyVertex {
  readonly pipeline: string;
  readonly vertex: string;
  readonly role: "source" | "map" | "sink";
  readonly connector: string;
  /** What the connector reads or writes, such as a topic or a URL; undefined if it has no name. */
  readonly peer?: string | undefined;
  readonly reason: Reason;
  readonly detail: string;
  /** Whether the limit of its gate finds itself; undefined if it has no gate. */
  readonly isAdaptive?: boolean | undefined;
  readonly since: string;
  readonly forMs: number;
  readonly untilInMs?: number | undefined;
  /** Messages that wait before it; undefined if its server does not say. */
  readonly queue?: number | undefined;
  readonly share?: WhyShare | undefined;
  /** Of an HTTP sink. */
  readonly gate?: WhyGate | undefined;
  /** Undefined: the peer decides. */
  readonly setting?: VertexSetting | undefined;
  /** Vertices that wait for room in the buffers before this one. */
  readonly behind: readonly string[];
}

/** A pipeline that does not run. */
export interface WhyFailed {
  readonly pipeline: string;
  readonly error: string;
  readonly since: string;
  readonly nextInMs: number;
  /** Starts that failed one after another. */
  readonly starts: number;
}

/** A map or a sink that has worked on one batch for long: it hangs, its messages are tried again, or its program does not run. Or a source whose server does not answer. */
export interface WhyWorking {
  readonly pipeline: string;
  readonly vertex: string;
  readonly role: "source" | "map" | "sink";
  readonly connector: string;
  readonly peer?: string | undefined;
  /** Messages of the batch; 0 of a source. */
  readonly messages: number;
  /** The newest failure of a message that is tried again. */
  readonly failure?: string | undefined;
  /** What a map or a source waits for that does not work: `for python3, which exited with code 1 …`. */
  readonly waitsFor?: string | undefined;
  readonly since: string;
  readonly forMs: number;
  /** When its time limit ends the call, or its program has been tried again; undefined if that is not known. */
  readonly untilInMs?: number | undefined;
  /** The time limit. */
  readonly setting?: VertexSetting | undefined;
  readonly behind: readonly string[];
}

export interface PipelinesWhy {
  readonly vertices: readonly WhyVertex[];
  readonly working: readonly WhyWorking[];
  readonly failed: readonly WhyFailed[];
}

interface WhyInput {
  readonly views: readonly PipelineView[];
  readonly nowMs: number;
  readonly wallMs: number;
  readonly placeOf: (path: Path) => string | undefined;
}

const SECOND_MS = 1_000;
/** A batch that takes longer is worth a word, ms. Lower, slow services would be told of that do what they always do. */
const WORKING_MS = 5_000;
/** The time limit of a map of a flow file without `timeout`, and of a request, ms. */
const TIMEOUT_MS = 30_000;

/** What waits in the pipelines; of one pipeline, vertex or topic if `name` is given. Store losses come first. */
export function pipelinesWhy(input: WhyInput, name: string | undefined): PipelinesWhy {
  const { views, nowMs, wallMs } = input;
  const named = views.filter((view) => name === undefined || isNamed(view, name));
  const shown = named.flatMap((view) =>
    view.state.vertices
      .filter(({ name: vertex }) => name === undefined || isShown(view, vertex, name))
      .map((vertex) => ({ vertex, view })),
  );
  const vertices = shown.flatMap(({ vertex, view }) => whyOf(vertex, view, input) ?? []);
  const working = shown.flatMap(({ vertex, view }) => workingOf(vertex, view, input) ?? []);
  return {
    vertices: vertices.toSorted((a, b) => rank(a) - rank(b)),
    working: working.toSorted((a, b) => b.forMs - a.forMs),
    failed: named.flatMap(({ state, failure }) =>
      failure === undefined
        ? []
        : [
            {
              pipeline: state.name,
              error: failure.error.message,
              since: formatWallTime(wallMs - (nowMs - failure.atMs)),
              nextInMs: Math.max(1, Math.ceil(failure.nextAtMs - nowMs)),
              starts: failure.count,
            },
          ],
    ),
  };
}

function whyOf(vertex: VertexState, view: PipelineView, input: WhyInput): WhyVertex | undefined {
  const waiting = waitingOf(vertex, view);
  if (waiting === undefined) return undefined;
  const { nowMs, wallMs } = input;
  const { state, flow } = view;
  const index = flow.vertices.findIndex(({ name }) => name === vertex.name);
  const defined = flow.vertices[index];
  const { reason, detail, sinceMs, untilMs } = waiting;
  return {
    pipeline: state.name,
    vertex: vertex.name,
    role: vertex.kind,
    connector: vertex.connector,
    peer: defined && peerOf(defined),
    reason,
    detail,
    ...(defined?.sink?.kind === "http" && { isAdaptive: isAdaptive(defined) }),
    since: formatWallTime(wallMs - (nowMs - sinceMs)),
    forMs: Math.max(0, Math.round(nowMs - sinceMs)),
    ...(untilMs !== undefined &&
      Number.isFinite(untilMs) && { untilInMs: Math.max(1, Math.ceil(untilMs - nowMs)) }),
    queue: vertex.queue,
    share: shareOf(vertex, view),
    gate: gateOf(vertex, defined, view.gateCountsOf(vertex.name), nowMs),
    setting: settingOf(vertex.name, reason, view, input),
    behind: behindOf(state.vertices, vertex),
  };
}

/** A batch that a vertex has worked on for long, without a reason to wait; or a map or a source that is down. */
function workingOf(
  vertex: VertexState,
  view: PipelineView,
  input: WhyInput,
): WhyWorking | undefined {
  const { work, name } = vertex;
  const { nowMs, wallMs } = input;
  const down = vertex.waiting?.isDown === true ? vertex.waiting : undefined;
  const held =
    down ?? (work !== undefined && isHanging(vertex, work, view, nowMs) ? work : undefined);
  if (held === undefined) return undefined;
  const { state, flow } = view;
  const defined = flow.vertices.find((one) => one.name === name);
  const limit = defined && timeLimitOf(name, defined, view, input);
  const { sinceMs } = held;
  const untilMs = down === undefined ? sinceMs + (limit?.ms ?? 0) : (down.untilMs ?? 0);
  return {
    pipeline: state.name,
    vertex: name,
    role: vertex.kind,
    connector: vertex.connector,
    peer: defined && peerOf(defined),
    messages: work?.messages ?? 0,
    ...(work?.failure !== undefined && { failure: work.failure }),
    ...(down !== undefined && { waitsFor: down.detail }),
    since: formatWallTime(wallMs - (nowMs - sinceMs)),
    forMs: Math.round(nowMs - sinceMs),
    ...(untilMs > nowMs &&
      work?.failure === undefined && { untilInMs: Math.ceil(untilMs - nowMs) }),
    ...(limit !== undefined && down === undefined && { setting: limit.setting }),
    behind: behindOf(state.vertices, vertex),
  };
}

/** Whether a vertex has worked on a batch for long, and waits for nothing that is known. */
function isHanging(
  vertex: VertexState,
  { sinceMs }: VertexWork,
  view: PipelineView,
  nowMs: number,
): boolean {
  if (nowMs - sinceMs < WORKING_MS) return false;
  return vertex.waiting === undefined && waitingOf(vertex, view) === undefined;
}

/** The key that bounds a call of a map or a request, and its value. */
function timeLimitOf(
  name: string,
  vertex: FlowVertex,
  { flow, state }: PipelineView,
  { placeOf }: WhyInput,
): { readonly ms: number; readonly setting: VertexSetting } | undefined {
  const isHttp = vertex.sink?.kind === "http";
  if (vertex.map === undefined && !isHttp) return undefined;
  const index = flow.vertices.findIndex((one) => one.name === name);
  const keys = isHttp ? ["sink", "http", "request", "timeout"] : ["map", "timeout"];
  const path: Path = ["pipelines", state.name, "vertices", index, ...keys];
  const request = vertex.sink?.options["request"] as { readonly timeout?: number } | undefined;
  const given = isHttp ? request?.timeout : vertex.map?.options["timeout"];
  const ms = typeof given === "number" ? given : TIMEOUT_MS;
  const place = nearestPlace(path, placeOf);
  return { ms, setting: { path: settingText(path, flow), value: durationText(ms), place } };
}

interface Waiting extends Throttled {
  readonly untilMs?: number | undefined;
}

/** What a vertex waits for: at this instant, or in turns with reading. */
export function waitingOf(
  { name, waiting, perSecond }: VertexState,
  { throttledOf, gateSinceMs }: PipelineView,
): Waiting | undefined {
  const throttled = throttledOf(name);
  // Without reads there are no turns: the vertex is idle, and its last wait is over.
  if (waiting === undefined) return perSecond > 0 ? throttled : undefined;
  // It waits for room in the next buffer, and the cause is further along; or it is down, which `working` tells.
  if (waiting.reason === undefined) return undefined;
  const { reason, detail, untilMs } = waiting;
  const since = [
    waiting.sinceMs,
    throttled?.reason === reason ? throttled.sinceMs : Infinity,
    gateSinceMs(name, reason) ?? Infinity,
  ];
  return { reason, detail, untilMs, sinceMs: Math.min(...since) };
}

/** Vertices before a sink or map that wait for room, without a reason of their own. */
function behindOf(vertices: readonly VertexState[], vertex: VertexState): readonly string[] {
  const index = vertices.indexOf(vertex);
  return vertices
    .slice(0, index)
    .filter(
      ({ waiting }) =>
        waiting !== undefined && waiting.reason === undefined && waiting.isDown !== true,
    )
    .map(({ name }) => name);
}

export function shareOf(
  { name, fleet }: VertexState,
  { flow, limitsOf }: PipelineView,
): WhyShare | undefined {
  if (fleet === undefined) return undefined;
  const { rateLimit } = effectiveOf(flow, limitsOf(name).limits);
  const { ceiling, share, membership } = fleet;
  const { max, min = 1, rampUpDuration } = rateLimit ?? {};
  return {
    share,
    ceiling,
    max,
    min: rateLimit?.min,
    members: membership?.size,
    storeAgeMs: membership?.syncAgeMs,
    rampLeftMs: rampLeftMs(ceiling, { max, min, rampUpMs: durationMs(rampUpDuration) }),
  };
}

/** `(max − ceiling) ÷ ((max − min) ÷ rampUp)`; undefined at the top of the ramp. */
function rampLeftMs(
  ceiling: number | undefined,
  {
    max,
    min,
    rampUpMs,
  }: { readonly max: number | undefined; readonly min: number; readonly rampUpMs: number },
): number | undefined {
  if (ceiling === undefined || max === undefined || ceiling >= max || max <= min) return undefined;
  return Math.ceil((rampUpMs * (max - Math.max(min, ceiling))) / (max - min));
}

function durationMs(given: string | number | undefined): number {
  if (typeof given === "number") return given;
  return (given === undefined ? undefined : parseDurationMs(given)) ?? SECOND_MS;
}

/** The key that causes a reason, or would change it. */
function settingOf(
  name: string,
  reason: Reason,
  view: PipelineView,
  { placeOf }: WhyInput,
): VertexSetting | undefined {
  const { flow, state, limitsOf } = view;
  const index = flow.vertices.findIndex((one) => one.name === name);
  const vertex = flow.vertices[index];
  if (vertex === undefined || reason === "retry-after") return undefined;
  const ofPipeline: Path = ["pipelines", state.name];
  const ofVertex: Path = [...ofPipeline, "vertices", index];
  const { limits, setAtMs } = limitsOf(name);
  const { rateLimit } = effectiveOf(flow, limits);
  const located = (path: Path, value: unknown): VertexSetting => ({
    path: settingText(path, flow),
    ...(value !== undefined && { value }),
    place: nearestPlace(path, placeOf),
  });
  if (reason === "store-lost")
    return located([...ofPipeline, "fleet", "maxMembers"], flow.fleet?.maxMembers);
  if (OF_FLEET.has(reason)) {
    if (setAtMs !== undefined)
      return {
        path: `limits of vertex ${state.name}/${name}: max`,
        value: rateLimit?.max,
        setAt: formatWallTime(setAtMs),
      };
    const isOwn = vertex.limits?.rateLimit?.max !== undefined;
    const where = isOwn ? ofVertex : ofPipeline;
    return located([...where, "limits", "rateLimit", "max"], rateLimit?.max);
  }
  const role = roleOf(vertex);
  const { kind = "", options = {} } = vertex[role] ?? {};
  const request = options["request"] as Readonly<Record<string, unknown>> | undefined;
  const key =
    reason === "rate" && request?.["rates"] !== undefined ? "rates" : REQUEST_KEYS.get(reason);
  if (key === undefined || kind !== "http") return located([...ofVertex, role, kind], undefined);
  return located([...ofVertex, role, kind, "request", key], request?.[key]);
}

/** Reasons of a rate limit that replicas share. */
const OF_FLEET: ReadonlySet<Reason> = new Set(["fleet-share", "fleet-joining", "fleet-refused"]);

/** Keys of `request` that cause a reason of a gate. */
const REQUEST_KEYS: ReadonlyMap<Reason, string> = new Map([
  ["rate", "rate"],
  ["concurrency", "concurrency"],
  ["peer-busy", "busy"],
]);

/** What a connector reads or writes. */
export function peerOf({ source, map, sink }: FlowVertex): string | undefined {
  const { kind, options = {} } = source ?? map ?? sink ?? {};
  const given = ["topic", "url", "stream", "subject", "path", "listen"]
    // The URL of Redis may hold a password.
    .filter((key) => !(kind === "redis" && key === "url"))
    .map((key) => options[key])
    .find((value) => typeof value === "string");
  if (typeof given !== "string") return undefined;
  return kind === "http" && given === options["url"] ? shownUrl(given) : given;
}

/** As people write it: vertices by their names. */
function settingText(path: Path, { vertices }: FlowPipeline): string {
  return path
    .map((key) => (typeof key === "number" ? (vertices[key]?.name ?? String(key)) : key))
    .map((key) => (/^[-\w]+$/.test(key) ? key : JSON.stringify(key)))
    .join(".");
}

/** The line of a key, or of the nearest one around it that the file has. */
function nearestPlace(path: Path, placeOf: (path: Path) => string | undefined): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const place = placeOf(path.slice(0, length));
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Store losses first, then what stands longest. */
function rank({ reason, forMs }: WhyVertex): number {
  return (reason === "store-lost" ? -Number.MAX_SAFE_INTEGER : 0) - forMs;
}
