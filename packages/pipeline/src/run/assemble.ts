import type { Source } from "../connector/source.ts";
import type {
  PipelineDefinition,
  RetryDefinition,
  VertexLimits,
} from "../definition/pipeline-definition.ts";
import { settingsOf } from "../definition/vertex-settings.ts";
import type { VertexSettings } from "../definition/vertex-settings.ts";
import type { RetryRules } from "../flow/tries.ts";
import { Acknowledger } from "./vertex/acknowledger.ts";
import { backoffMs } from "./failure/backoff.ts";
import { Channel } from "./vertex/channel.ts";
import { DeadLetters } from "./failure/dead-letters.ts";
import { FailureNotice } from "./failure/failure-notice.ts";
import { GiveUp } from "./failure/give-up.ts";
import { MapWorker } from "./vertex/map-worker.ts";
import type { Closing, OpenConnectors } from "./open-connectors.ts";
import type { VertexState } from "./pipeline-state.ts";
import type { Pools } from "./limit/pools.ts";
import { ReadLimit } from "./limit/read-limit.ts";
import { Retrier } from "./failure/retrier.ts";
import type { RunContext } from "./run-context.ts";
import { SinkWorker } from "./vertex/sink-worker.ts";
import { SourceReader } from "./vertex/source-reader.ts";
import { Vertex } from "./vertex/vertex.ts";
import { VertexMeter } from "./vertex/vertex-meter.ts";
import { WorkLoop } from "./vertex/work-loop.ts";

const ATTEMPTS = 5;
const BACKOFF_MS = 100;
const BACKOFF_MAX_MS = 10_000;

interface Assembled {
  readonly vertices: readonly Vertex[];
  readonly channels: readonly Channel[];
  readonly acknowledger: Acknowledger;
  readonly source: Source;
  readonly closings: readonly Closing[];
}

interface Named {
  readonly name: string;
  readonly kind: VertexState["kind"];
  readonly connector: string;
  readonly limits: VertexLimits | undefined;
}

/** Puts the parts of a pipeline together; nothing runs yet. What it has opened is closed if it fails. */
export async function assemble(
  definition: PipelineDefinition,
  context: RunContext,
  pools: Pools,
  open: () => Promise<OpenConnectors>,
): Promise<Assembled> {
  const named = namedVertices(definition);
  const vertices: Vertex[] = [];
  let connectors: OpenConnectors | undefined;
  try {
    // All of them are checked before the first pool is joined.
    const settings = named.map(({ name, limits }) =>
      settingsOf(definition.limits, limits, `${definition.name}.${name}.limits`),
    );
    for (const [index, each] of named.entries())
      vertices.push(
        await joinedVertex(definition, each, settings[index] as VertexSettings, { context, pools }),
      );
    connectors = await open();
  } catch (error) {
    await Promise.allSettled(vertices.map(async ({ limit }) => limit.limiter?.leave("redeploy")));
    await pools.close();
    throw error;
  }
  return connect(definition, context, vertices, connectors);
}

function namedVertices({ source, maps, sink }: PipelineDefinition): readonly Named[] {
  return [
    { name: source.name, limits: source.limits, kind: "source", connector: source.source.kind },
    ...maps.map(
      ({ name, limits, map }) => ({ name, limits, kind: "map", connector: map.kind }) as const,
    ),
    { name: sink.name, limits: sink.limits, kind: "sink", connector: sink.sink.kind },
  ];
}

async function joinedVertex(
  definition: PipelineDefinition,
  { name, kind, connector }: Named,
  settings: VertexSettings,
  { context, pools }: { readonly context: RunContext; readonly pools: Pools },
): Promise<Vertex> {
  const limiter = await pools.join(name, settings.rateLimit, context.stopped);
  const limit = new ReadLimit(context, name, limiter);
  const meter = new VertexMeter(context.timer);
  const defaults = definition.limits;
  const parts = { name, kind, connector, meter, limit, pools, context, defaults };
  const vertex = new Vertex(parts, settings);
  if (settings.rateLimit === undefined) await vertex.follow(context.stopped);
  return vertex;
}

/** Gives every vertex its loop, with a buffer between each two. */
function connect(
  definition: PipelineDefinition,
  context: RunContext,
  vertices: readonly Vertex[],
  { source, mappers, sink, deadLetter, closings }: OpenConnectors,
): Assembled {
  const [first, ...others] = vertices as readonly [Vertex, ...Vertex[]];
  const channels = others.map(
    (vertex) => new Channel(definition.bufferMax ?? 2 * vertex.settings().readBatchSize),
  );
  const [toSecond] = channels as [Channel];
  const acknowledger = new Acknowledger(context, first.name, source, () => toSecond.freed.ring());
  const deadLetters = new DeadLetters(context, deadLetter);
  const giveUpOf = ({ name, meter }: Vertex): GiveUp =>
    new GiveUp({
      vertex: name,
      meter,
      notice: new FailureNotice(context, name),
      deadLetters,
      acknowledger,
    });
  const retry = definition.retry ?? {};
  const retrierOf = (vertex: Vertex, attempts: number): Retrier =>
    new Retrier({
      context,
      meter: vertex.meter,
      rules: rulesOf(retry, retry.attempts ?? attempts, context),
      notice: new FailureNotice(context, vertex.name),
      giveUp: giveUpOf(vertex),
    });
  const partsOf = ({ limit, meter, settings }: Vertex) => ({ context, limit, meter, settings });

  first.attach(
    new SourceReader({
      ...partsOf(first),
      vertex: first.name,
      source,
      format: definition.source.source.format,
      output: toSecond,
      next: others[0]?.name ?? "",
      acknowledger,
      giveUp: giveUpOf(first),
    }),
  );
  for (const [index, vertex] of others.entries()) {
    const input = channels[index] as Channel;
    const output = channels[index + 1];
    const mapper = mappers[index];
    const parts = partsOf(vertex);
    const worker =
      output === undefined || mapper === undefined
        ? new SinkWorker({
            ...parts,
            sink,
            acknowledger,
            // Without a dead-letter sink nothing else has the message.
            retrier: retrierOf(vertex, deadLetter === undefined ? Infinity : ATTEMPTS),
          })
        : new MapWorker({
            ...parts,
            mapper,
            output,
            next: others[index + 1]?.name ?? "",
            acknowledger,
            retrier: retrierOf(vertex, ATTEMPTS),
          });
    vertex.attach(new WorkLoop({ ...parts, input, worker }));
  }
  return { vertices, channels, acknowledger, source, closings };
}

function rulesOf(
  { backoffMs: firstMs = BACKOFF_MS, backoffMaxMs: maxMs = BACKOFF_MAX_MS }: RetryDefinition,
  triesMax: number,
  { random }: RunContext,
): RetryRules {
  const bounds = { firstMs, maxMs: Math.max(firstMs, maxMs) };
  return { triesMax, backoffMs: (tries) => backoffMs(tries, bounds, random) };
}
