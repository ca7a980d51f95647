import type { Reason } from "@sluice/core";
import { formatWallTime } from "@sluice/core/system";
import { parseDurationMs } from "@sluice/core/internal";
import type { VertexState } from "@sluice/pipeline";
import { roleOf } from "../../flow/pipeline/flow-pipeline.ts";
import type { FlowPipeline, FlowVertex } from "../../flow/pipeline/flow-pipeline.ts";
import type { PipelineView, Throttled } from "../flow-pipelines.ts";
import { effectiveOf } from "../flow-pipelines.ts";
import { shownUrl } from "../define/shown-url.ts";

type Path = readonly (string | number)[];

/** The share that a vertex has of its limit. */
interface WhyShare {
  /** Messages a second; undefined before the first read. */
  readonly share?: number | undefined;
  readonly ceiling?: number | undefined;
  /** The top of the ramp. */
  readonly max?: number | undefined;
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
  readonly since: string;
  readonly forMs: number;
  readonly untilInMs?: number | undefined;
  /** Messages that wait before it; undefined if its server does not say. */
  readonly queue?: number | undefined;
  readonly share?: WhyShare | undefined;
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

export interface PipelinesWhy {
  readonly vertices: readonly WhyVertex[];
  readonly failed: readonly WhyFailed[];
}

interface WhyInput {
  readonly views: readonly PipelineView[];
  readonly nowMs: number;
  readonly wallMs: number;
  readonly placeOf: (path: Path) => string | undefined;
}

const SECOND_MS = 1_000;

/** What waits in the pipelines; of one pipeline, vertex or topic if `name` is given. Store losses come first. */
export function pipelinesWhy(input: WhyInput, name: string | undefined): PipelinesWhy {
  const { views, nowMs, wallMs } = input;
  const named = views.filter((view) => name === undefined || isNamed(view, name));
  const vertices = named.flatMap((view) =>
    view.state.vertices.flatMap((vertex) => {
      const isShown =
        name === undefined ||
        isWhole(view, name) ||
        isVertexName(view.state.name, vertex.name, name);
      return isShown ? (whyOf(vertex, view, input) ?? []) : [];
    }),
  );
  return {
    vertices: vertices.toSorted((a, b) => rank(a) - rank(b)),
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

/** Whether `why` has something to say of a name. */
export function isKnownName(views: readonly PipelineView[], name: string): boolean {
  return views.some((view) => isNamed(view, name));
}

function isNamed(view: PipelineView, name: string): boolean {
  return (
    isWhole(view, name) ||
    view.flow.vertices.some((vertex) => isVertexName(view.state.name, vertex.name, name))
  );
}

/** The name of the pipeline, or of what its source reads: then all of its vertices are meant. */
function isWhole({ flow, state }: PipelineView, name: string): boolean {
  if (state.name === name) return true;
  const topic = flow.vertices[0]?.source?.options["topic"];
  return typeof topic === "string" && shortTopicName(topic) === shortTopicName(name);
}

function isVertexName(pipeline: string, vertex: string, name: string): boolean {
  return name === vertex || name === `${pipeline}/${vertex}`;
}

function shortTopicName(topic: string): string {
  return topic.replace(/^persistent:\/\//, "").replace(/^public\/default\//, "");
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
    since: formatWallTime(wallMs - (nowMs - sinceMs)),
    forMs: Math.max(0, Math.round(nowMs - sinceMs)),
    ...(untilMs !== undefined &&
      Number.isFinite(untilMs) && { untilInMs: Math.max(1, Math.ceil(untilMs - nowMs)) }),
    queue: vertex.queue,
    share: shareOf(vertex, view),
    setting: settingOf(vertex.name, reason, view, input),
    behind: behindOf(state.vertices, vertex),
  };
}

interface Waiting extends Throttled {
  readonly untilMs?: number | undefined;
}

/** What a vertex waits for: at this instant, or in turns with reading. */
function waitingOf(
  { name, waiting, perSecond }: VertexState,
  { throttledOf, gateSinceMs }: PipelineView,
): Waiting | undefined {
  const throttled = throttledOf(name);
  // Without reads there are no turns: the vertex is idle, and its last wait is over.
  if (waiting === undefined) return perSecond > 0 ? throttled : undefined;
  // It waits for room in the next buffer: the cause is further along.
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
    .filter(({ waiting }) => waiting !== undefined && waiting.reason === undefined)
    .map(({ name }) => name);
}

function shareOf(
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
  const key = REQUEST_KEYS.get(reason);
  const request = options["request"] as Readonly<Record<string, unknown>> | undefined;
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
function peerOf({ source, map, sink }: FlowVertex): string | undefined {
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
