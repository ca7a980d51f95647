import type { Clock } from "@sluice/core";
import { formatWallTime } from "@sluice/core/system";
import { HttpError, json } from "@sluice/gateway/admin";
import type { AdminAddition, AdminRequest, Answer, Route } from "@sluice/gateway/admin";
import type { VertexState } from "@sluice/pipeline";
import type { FlowVertexLimits } from "../../flow/pipeline/flow-pipeline.ts";
import { effectiveOf } from "../vertex-limits.ts";
import type { FlowPipelines } from "../flow-pipelines.ts";
import type { PipelineView } from "../pipeline-view.ts";
import { addPipelineMetrics } from "../observe/pipeline-metrics.ts";
import { vertexText } from "../../limits/limit-table.ts";
import type { AnsweredVertexLimit } from "../../limits/limit-table.ts";
import { changedLimits } from "./changed-limits.ts";
import { replicasFor } from "./scale.ts";
import { isKnownName, knownNames } from "./known-names.ts";
import { pipelinesWhy } from "./vertex-why.ts";

interface AdminWorld {
  readonly timer: Clock;
  readonly wallClock: Clock;
  readonly placeOf: (path: readonly (string | number)[]) => string | undefined;
  /** What this replica of a pipeline can read, messages a second; undefined: not known. */
  readonly capacityOf: (pipeline: string) => number | undefined;
  /** A limit of a vertex was changed; `to` says how. */
  readonly onChange: (subject: string, to: string) => void;
}

/** What pipelines add to the administration: state, waits, limits, metrics and the wanted number of replicas. */
export function pipelineAddition(pipelines: FlowPipelines, world: AdminWorld): AdminAddition {
  const desired = (): ReadonlyMap<string, number> =>
    new Map(pipelines.views().map((view) => [view.state.name, desiredOf(view, world)]));
  return {
    state: () => ({ pipelines: pipelines.views().map((view) => viewJson(view, pipelines, world)) }),
    knows: (name) => isKnownName(pipelines.views(), name),
    names: () => knownNames(pipelines.views()),
    why: (name) => ({
      pipelines: pipelinesWhy({ ...timesOf(world), views: pipelines.views() }, name),
    }),
    limits: () => ({
      vertices: pipelines
        .views()
        .flatMap((view) => view.flow.vertices.map(({ name }) => limitJson(view, name, world))),
    }),
    addMetrics: (to) => {
      addPipelineMetrics(to, pipelines.views(), desired());
      pipelines.gates.addMetrics(to);
    },
    notReady: () => pipelines.notReady(),
    routes: [...limitRoutes(pipelines, world), ...scaleRoutes(desired)],
  };
}

function timesOf({ timer, wallClock, placeOf }: AdminWorld): {
  readonly nowMs: number;
  readonly wallMs: number;
  readonly placeOf: AdminWorld["placeOf"];
} {
  return { nowMs: timer.now(), wallMs: wallClock.now(), placeOf };
}

function desiredOf({ state, flow, throttledOf }: PipelineView, { capacityOf }: AdminWorld): number {
  return replicasFor(
    state.vertices,
    flow.fleet,
    capacityOf(state.name),
    (vertex) => throttledOf(vertex)?.reason,
  );
}

function viewJson(view: PipelineView, { gates }: FlowPipelines, world: AdminWorld): object {
  const { state, failure } = view;
  const { timer, wallClock } = world;
  const nowMs = timer.now();
  return {
    name: state.name,
    status: state.status,
    unacknowledged: state.unacknowledged,
    desiredReplicas: desiredOf(view, world),
    perReplica: world.capacityOf(state.name) ?? null,
    ...(failure !== undefined && {
      failure: {
        error: failure.error.message,
        at: formatWallTime(wallClock.now() - (nowMs - failure.atMs)),
        starts: failure.count,
        nextInMs: Math.max(1, Math.ceil(failure.nextAtMs - nowMs)),
      },
    }),
    vertices: state.vertices.map((vertex) => {
      const gate = gates.state(`${state.name}/${vertex.name}`);
      return { ...vertexJson(vertex, nowMs), ...(gate !== undefined && { gate }) };
    }),
  };
}

function vertexJson(state: VertexState, nowMs: number): object {
  const { waiting, fleet, queue, work, ...vertex } = state;
  return {
    ...vertex,
    ...(work !== undefined && {
      work: {
        messages: work.messages,
        forMs: Math.max(0, Math.round(nowMs - work.sinceMs)),
        ...(work.failure !== undefined && { failure: work.failure }),
      },
    }),
    queue: queue ?? null,
    ...(fleet !== undefined && {
      rateLimit: {
        ceiling: fleet.ceiling ?? null,
        share: fleet.share ?? null,
        usage: fleet.usage ?? null,
        members: fleet.membership?.size ?? null,
        member: fleet.member ?? null,
        standing: fleet.membership?.standing ?? null,
        leaseLeftMs: fleet.membership?.leaseLeftMs ?? null,
        storeAgeMs: fleet.membership?.syncAgeMs ?? null,
      },
    }),
    ...(waiting !== undefined && {
      waiting: {
        reason: waiting.reason ?? null,
        detail: waiting.detail,
        forMs: Math.max(0, Math.round(nowMs - waiting.sinceMs)),
        ...(waiting.untilMs !== undefined && {
          untilInMs: Math.max(1, Math.ceil(waiting.untilMs - nowMs)),
        }),
      },
    }),
  };
}

function limitJson(view: PipelineView, vertex: string, { placeOf }: AdminWorld): object {
  const { flow, state, limitsOf } = view;
  const { limits, setAtMs } = limitsOf(vertex);
  const { rateLimit, concurrency, readBatchSize } = effectiveOf(flow, limits);
  const index = flow.vertices.findIndex(({ name }) => name === vertex);
  const own = ["pipelines", state.name, "vertices", index, "limits"];
  const place = placeOf(own) ?? placeOf(["pipelines", state.name, "limits"]);
  return {
    level: "vertex",
    name: `${state.name}/${vertex}`,
    rateLimit: shownRateLimit(rateLimit) ?? null,
    concurrency: concurrency ?? null,
    readBatchSize: readBatchSize ?? null,
    source: setAtMs === undefined ? "flow file" : "live",
    ...(setAtMs === undefined
      ? place !== undefined && { place }
      : { setAt: formatWallTime(setAtMs) }),
  };
}

/** Without `store`, whose URL may hold a password. */
function shownRateLimit(rateLimit: object | undefined): object | undefined {
  return rateLimit && { ...rateLimit, store: undefined };
}

function limitRoutes(pipelines: FlowPipelines, world: AdminWorld): readonly Route[] {
  const path = "/api/limits/vertex/{pipeline}/{vertex}";
  const found = (request: AdminRequest): readonly [string, string, () => object] => {
    request.requireKnownQuery([]);
    const [pipeline, vertex] = [request.param("pipeline"), request.param("vertex")];
    const view = pipelines.views().find(({ state }) => state.name === pipeline);
    if (view === undefined || !pipelines.has(pipeline, vertex))
      throw new HttpError(404, `there is no vertex ${pipeline}/${vertex}; ${knownText(pipelines)}`);
    const limit = (): object =>
      limitJson(
        pipelines.views().find(({ state }) => state.name === pipeline) ?? view,
        vertex,
        world,
      );
    return [pipeline, vertex, limit];
  };
  const change = async (
    request: AdminRequest,
    limits: FlowVertexLimits | undefined,
  ): Promise<Answer> => {
    const [pipeline, vertex, limit] = found(request);
    const from = limit();
    const taken = await pipelines.setLimits(pipeline, vertex, limits);
    const now = vertexText(limit() as AnsweredVertexLimit);
    const whose = limits === undefined ? "those of the flow file: " : "";
    world.onChange(`${pipeline}/${vertex}`, whose + now);
    return json({
      level: "vertex",
      name: `${pipeline}/${vertex}`,
      from,
      to: limit(),
      ...(taken !== "now" && { note: DOWN }),
    });
  };
  return [
    { method: "GET", path, handle: (request) => json(found(request)[2]()) },
    {
      method: "PUT",
      path,
      handle: (request) => {
        const [pipeline, vertex] = found(request);
        const view = pipelines.views().find(({ state }) => state.name === pipeline);
        return change(request, changedLimits(request.json(), view, vertex));
      },
    },
    { method: "DELETE", path, handle: (request) => change(request, undefined) },
  ];
}

const DOWN =
  "the pipeline is down here: this replica has the limit at its next start, other replicas within a second";

function knownText(pipelines: FlowPipelines): string {
  const names = pipelines
    .views()
    .flatMap(({ flow, state }) => flow.vertices.map(({ name }) => `${state.name}/${name}`));
  return names.length === 0 ? "no pipeline runs" : `there are ${names.slice(0, 10).join(", ")}`;
}

/** In the shape that KEDA's metrics-api scaler reads: `valueLocation: value`. */
function scaleRoutes(desired: () => ReadonlyMap<string, number>): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/scale",
      handle: () =>
        json({
          pipelines: Object.fromEntries(
            [...desired()].map(([name, count]) => [name, { desiredReplicas: count }]),
          ),
        }),
    },
    {
      method: "GET",
      path: "/api/scale/{pipeline}",
      handle: (request) => {
        const name = request.param("pipeline");
        const value = desired().get(name);
        if (value === undefined) throw new HttpError(404, `there is no pipeline ${name}`);
        return json({ value });
      },
    },
  ];
}
