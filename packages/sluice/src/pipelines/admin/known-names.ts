import type { FlowVertex } from "../../flow/pipeline/flow-pipeline.ts";
import { shownUrl } from "../define/shown-url.ts";
import type { PipelineView } from "../pipeline-view.ts";

/** Whether `why` has something to say of a name. */
export function isKnownName(views: readonly PipelineView[], name: string): boolean {
  return views.some((view) => isNamed(view, name));
}

/** Names that `why` takes: pipelines, vertices, and the services behind gates. */
export function knownNames(views: readonly PipelineView[]): readonly string[] {
  return views.flatMap(({ flow, state }) => [
    state.name,
    ...flow.vertices.flatMap((vertex) => [
      `${state.name}/${vertex.name}`,
      ...gateNamesOf(vertex).slice(0, 1),
    ]),
  ]);
}

/** Whether a name is of a pipeline, or of something in it. */
export function isNamed(view: PipelineView, name: string): boolean {
  return (
    isWhole(view, name) || view.flow.vertices.some((vertex) => isShown(view, vertex.name, name))
  );
}

/** Whether a name is of a vertex, or of all that it is a part of. */
export function isShown(view: PipelineView, vertex: string, name: string): boolean {
  const { flow, state } = view;
  if (isWhole(view, name) || isVertexName(state.name, vertex, name)) return true;
  const defined = flow.vertices.find((one) => one.name === vertex);
  return defined !== undefined && isGateName(state.name, defined, name);
}

/** The gate of an HTTP sink: by its service, by its URL, or by its whole name `pipeline/vertex to service`. */
function isGateName(pipeline: string, vertex: FlowVertex, name: string): boolean {
  const services = gateNamesOf(vertex);
  const gate = `${pipeline}/${vertex.name} to `;
  if (services.some((service) => name === service || name === gate + service)) return true;
  return services.length > 0 && isSameUrl(String(vertex.sink?.options["url"]), name);
}

function isSameUrl(url: string, name: string): boolean {
  return /^https?:/.test(name) && URL.canParse(name) && shownUrl(name) === shownUrl(url);
}

/** What the service of an HTTP sink is called: its name in the flow file, if it has one, and its host. */
function gateNamesOf({ sink }: FlowVertex): readonly string[] {
  const { url, name } = sink?.options ?? {};
  if (sink?.kind !== "http" || typeof url !== "string" || !URL.canParse(url)) return [];
  const { host } = new URL(url);
  return typeof name === "string" ? [name, host] : [host];
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
