import type { OpenContext } from "../connector/open-context.ts";
import type { Sink } from "../connector/sink.ts";
import type { Source } from "../connector/source.ts";
import type { PipelineDefinition } from "../definition/pipeline-definition.ts";
import type { Mapper } from "../map/mapper.ts";
import type { RunContext } from "./run-context.ts";

/** The name of the dead-letter sink in events and in the names that connectors get. */
const DEAD_LETTER = "dead-letter";

/** What frees something that a vertex has opened. */
export interface Closing {
  readonly vertex: string;
  readonly end: () => Promise<void>;
}

export interface OpenConnectors {
  readonly source: Source;
  readonly mappers: readonly Mapper[];
  readonly sink: Sink;
  readonly deadLetter: Sink | undefined;
  /** Frees all of them, the source first. */
  readonly closings: readonly Closing[];
}

/**
 * Opens the connectors of a pipeline, the source last. If one cannot be opened, those before it are closed. A stop gives
 * up an opening at once; what it opens later is closed.
 */
export async function openConnectors(
  { source, maps, sink, deadLetter }: PipelineDefinition,
  context: RunContext,
): Promise<OpenConnectors> {
  const closings: Closing[] = [];
  const open = async <T extends { close(): Promise<void> }>(
    vertex: string,
    connector: { open(openContext: OpenContext): Promise<T> },
  ): Promise<T> => {
    const { pipeline, tell, stopped } = context;
    tell({ kind: "opening", pipeline, vertex, what: "connector" });
    // After the event: what observes it may stop the pipeline.
    stopped.throwIfAborted();
    const opened = await unlessAborted(connector.open(openContextOf(context, vertex)), stopped);
    closings.unshift({ vertex, end: () => opened.close() });
    return opened;
  };
  try {
    const letters = deadLetter === undefined ? undefined : await open(DEAD_LETTER, deadLetter);
    const openSink = await open(sink.name, sink.sink);
    const mappers: Mapper[] = [];
    for (const { name, map } of maps.toReversed()) mappers.unshift(await open(name, map));
    const openSource = await open(source.name, source.source);
    return { source: openSource, mappers, sink: openSink, deadLetter: letters, closings };
  } catch (error) {
    await Promise.allSettled(closings.map(({ end }) => end()));
    throw error;
  }
}

/** Client libraries may take long to give up. What is opened after the signal is closed at once. */
async function unlessAborted<T extends { close(): Promise<void> }>(
  opening: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true, signal: settled.signal });
  });
  try {
    return await Promise.race([opening, aborted]);
  } catch (error) {
    void opening.then((opened) => opened.close()).catch(() => undefined);
    throw error;
  } finally {
    settled.abort();
  }
}

function openContextOf(context: RunContext, vertex: string): OpenContext {
  const { pipeline, timer, random, tell, stopped } = context;
  return {
    name: `${pipeline}/${vertex}`,
    timer,
    random,
    signal: stopped,
    tell: (event) => tell({ kind: "connector", pipeline, vertex, event }),
  };
}
