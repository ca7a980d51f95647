import type { Timer } from "@sluice/core";
import { measureCapacity } from "@sluice/pipeline";
import type { PipelineView } from "../pipeline-view.ts";
import { isHeld, runningReplicas } from "./scale.ts";

/** Time between two measurements, ms; the rate of a vertex is a mean of seconds. */
const EVERY_MS = 1_000;

/** Measures what this replica of each pipeline can read, while it is the bottleneck. */
export class ScaleWatch {
  readonly #views: () => readonly PipelineView[];
  readonly #capacities = new Map<string, number>();

  constructor(views: () => readonly PipelineView[]) {
    this.#views = views;
  }

  /** Messages a second; undefined until the replica was the bottleneck. */
  capacityOf(pipeline: string): number | undefined {
    return this.#capacities.get(pipeline);
  }

  /** Measures every second until the signal says stop. */
  async run(timer: Timer, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.measure();
      await timer.sleep(EVERY_MS, signal).catch(() => undefined);
    }
  }

  measure(): void {
    for (const { state, flow, throttledOf } of this.#views()) {
      const [source] = state.vertices;
      if (source === undefined || state.status !== "running") continue;
      const running = runningReplicas(state.vertices, flow.fleet);
      const capacity = measureCapacity(this.#capacities.get(state.name), {
        perSecond: source.perSecond,
        backlog: source.queue === undefined ? undefined : source.queue / running,
        isHeld: state.vertices.some((vertex) => isHeld(vertex, throttledOf(vertex.name)?.reason)),
      });
      if (capacity !== undefined) this.#capacities.set(state.name, capacity);
    }
  }
}
