import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { startPipeline } from "@sluice/pipeline";
import type {
  PipelineDefinition,
  PipelineEvent,
  PipelineRuntime,
  PipelineState,
} from "@sluice/pipeline";
import { MemorySink } from "@sluice/pipeline/testing";

/** The runtime of a pipeline in a test, and what the pipeline has told. */
export interface World {
  readonly timer: VirtualTimer;
  readonly events: PipelineEvent[];
  readonly runtime: PipelineRuntime;
}

export function newWorld(): World {
  const timer = new VirtualTimer();
  const events: PipelineEvent[] = [];
  const observe = (event: PipelineEvent): void => void events.push(event);
  return { timer, events, runtime: { timer, random: new SeededRandom(1), observe } };
}

/** Lets time pass until the promise has settled. */
export async function passing<T>(
  timer: VirtualTimer,
  promise: Promise<T>,
  stepMs = 10,
): Promise<T> {
  const settled = new AbortController();
  const settle = (): void => settled.abort();
  promise.then(settle, settle);
  for (let step = 0; step < 100_000 && !settled.signal.aborted; step++) await timer.advance(stepMs);
  return promise;
}

/** Runs a definition to its end. */
export async function run(
  { timer, runtime }: World,
  definition: Partial<PipelineDefinition> & Pick<PipelineDefinition, "source" | "sink">,
): Promise<PipelineState> {
  const running = await startPipeline({ name: "p", maps: [], ...definition }, runtime);
  return passing(timer, running.done);
}

export const ofKind = <Kind extends PipelineEvent["kind"]>(
  { events }: World,
  kind: Kind,
): readonly Extract<PipelineEvent, { kind: Kind }>[] =>
  events.filter((event): event is Extract<PipelineEvent, { kind: Kind }> => event.kind === kind);

export function sinkNamed(name: string): PipelineDefinition["sink"] {
  return { name, sink: new MemorySink() };
}
