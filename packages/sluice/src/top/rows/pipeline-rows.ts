import { countText, perSecondText } from "@sluice/gateway/internal";
import type { LiveGate, LivePipeline, LiveSample, LiveVertex } from "../../live/live-message.ts";
import { localName } from "../../why/local-name.ts";
import { workingWord } from "../../why/vertex-sentences.ts";
import type { TopRow } from "./top-rows.ts";

/** Parts of the requests from which a service counts as busy, and as failing. */
const BUSY_FROM = 0.05;
const FAILING_FROM = 0.5;

/** The vertices of all pipelines, each sink with a gate followed by its service. */
export function pipelineRows(sample: LiveSample): readonly TopRow[] {
  const { pipelines } = sample;
  // One pipeline needs no name before its vertices.
  const isQualified = pipelines.length > 1;
  return pipelines.flatMap((pipeline): readonly TopRow[] => {
    const { name, status, vertices } = pipeline;
    if (vertices.length > 0)
      return vertices.flatMap((vertex) => {
        const row = vertexRow(pipeline, vertex, sample, isQualified);
        return vertex.gate === undefined ? [row] : [row, serviceRow(row, vertex.gate)];
      });
    const state = status === "failed" ? "failed" : "stopped";
    return [
      { key: `pipeline ${name}`, indent: 0, name, perSecond: 0, limit: "–", state, reason: "" },
    ];
  });
}

function vertexRow(
  pipeline: LivePipeline,
  vertex: LiveVertex,
  sample: LiveSample,
  isQualified: boolean,
): TopRow {
  const path = `${pipeline.name}/${vertex.name}`;
  return {
    key: `vertex ${path}`,
    indent: 0,
    name: isQualified ? path : vertex.name,
    perSecond: vertex.rate,
    ...vertexLimit(vertex),
    queue: vertex.queue ?? backlogOf(vertex, sample),
    ...vertexState(pipeline, vertex, sample),
  };
}

/** Of a source that reads a topic of this gateway: what waits there. */
function backlogOf({ kind, peer }: LiveVertex, { gateway }: LiveSample): number | undefined {
  if (kind !== "source" || peer === undefined) return undefined;
  return gateway?.topics.find(({ name }) => localName(name) === localName(peer))?.backlog;
}

function vertexState(
  { name: pipeline, status }: LivePipeline,
  { name, behind }: LiveVertex,
  { waits }: LiveSample,
): Pick<TopRow, "state" | "reason" | "forMs"> {
  // Its vertices are those of its last run.
  if (status === "failed" || status === "stopped") return { state: status, reason: "" };
  for (const wait of waits) {
    if (wait.kind !== "vertex" && wait.kind !== "working") continue;
    if (wait.why.pipeline !== pipeline || wait.why.vertex !== name) continue;
    const { forMs } = wait.why;
    if (wait.kind === "vertex") return { state: "throttled", reason: wait.why.reason, forMs };
    const word = workingWord(wait.why);
    const reason = word === "working" ? "no answer" : word;
    return { state: "working", reason, forMs };
  }
  // It waits for room in the next buffer; the cause is further along.
  return behind === undefined
    ? { state: "flowing", reason: "" }
    : { state: "waiting", reason: `for ${behind}` };
}

/** The gate of a sink is nearer to its service than its rate limit. */
function vertexLimit({ gate, share, rate }: LiveVertex): Pick<TopRow, "limit" | "use"> {
  if (gate?.limit !== undefined)
    return {
      limit: `${countText(gate.inFlight)} of ${countText(gate.limit)}`,
      use: gate.inFlight / gate.limit,
    };
  const own = share?.share;
  if (own === undefined || own <= 0) return { limit: "–" };
  return { limit: perSecondText(own), use: rate / own };
}

function serviceRow({ key }: TopRow, gate: LiveGate): TopRow {
  const { service, ok, sent, busy, failed, allowed } = gate;
  return {
    key: key.replace("vertex", "service"),
    indent: 0,
    name: service,
    service,
    perSecond: ok,
    limit: allowed === undefined ? "–" : perSecondText(Math.round(allowed)),
    use: allowed === undefined ? undefined : sent / allowed,
    state:
      failed > FAILING_FROM * sent ? "failing" : busy > BUSY_FROM * sent ? "busy" : "answering",
    reason: "",
  };
}
