import { nextTurn, systemRandom, systemTimer } from "@sluice/core/system";
import { checkDefinition } from "../definition/check-definition.ts";
import type { PipelineDefinition } from "../definition/pipeline-definition.ts";
import { assemble } from "./assemble.ts";
import { openConnectors } from "./open-connectors.ts";
import { Pipeline } from "./pipeline.ts";
import type { PipelineEvent } from "./pipeline-event.ts";
import { Pools } from "./limit/pools.ts";
import type { RunContext } from "./run-context.ts";
import type { PipelineRuntime, RunningPipeline } from "./running-pipeline.ts";

const DRAIN_MS = 10_000;
/** What a turn of the event loop takes in virtual time, ms, so that an endless source lets time pass. */
const TURN_MS = 1;

/**
 * Opens the connectors, joins the pools of limited vertices and starts to read. Rejects with a ConfigError if the
 * definition is wrong, and with what a connector rejects if it cannot be opened; nothing is left open then.
 *
 * @example
 * const running = await startPipeline({
 *   name: "orders",
 *   source: { name: "in", source: generator({ values: [1, 2, 3] }) },
 *   maps: [],
 *   sink: { name: "out", sink: blackhole() },
 * });
 * await running.done;
 */
export async function startPipeline(
  definition: PipelineDefinition,
  runtime: PipelineRuntime = {},
): Promise<RunningPipeline> {
  checkDefinition(definition);
  const {
    flow = "sluice",
    fleet = {},
    signal,
    timer = systemTimer,
    random = systemRandom,
  } = runtime;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const cut = new AbortController();
  const abandon = new AbortController();
  const context: RunContext = {
    pipeline: definition.name,
    timer,
    random,
    endTurn: timer === systemTimer ? nextTurn : () => timer.sleep(TURN_MS),
    tell: guarded(runtime.observe),
    stopped: stop.signal,
    cut: cut.signal,
    abandoned: abandon.signal,
  };
  const abort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const drainMs = definition.drainMs ?? DRAIN_MS;
  const pools = new Pools(context, flow, fleet);
  const parts = await assemble(definition, context, pools, () =>
    openConnectors(definition, context),
  ).finally(() => signal?.removeEventListener("abort", abort));
  return new Pipeline({ ...parts, context, stop, cut, abandon, pools, drainMs, signal });
}

/** A callback of the user whose errors change nothing: the pipeline must go on. */
function guarded(
  observe: ((event: PipelineEvent) => void) | undefined,
): (event: PipelineEvent) => void {
  if (observe === undefined) return () => {};
  return (event) => {
    try {
      observe(event);
    } catch {
      // A log that cannot be written must not stop messages.
    }
  };
}
