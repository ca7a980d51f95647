import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "@sluice/core";
import { checkLimits } from "@sluice/pipeline";
import type { FlowPipeline } from "../flow/pipeline/flow-pipeline.ts";
import { effectiveOf, isLimited, withOwnRate } from "./vertex-limits.ts";
import type { LiveLimits } from "./vertex-limits.ts";

/** Refuses a file that contradicts limits that were set while the pipeline ran, and that its new start would keep. */
export function requireLiveLimits(
  name: string,
  live: ReadonlyMap<string, LiveLimits>,
  next: FlowPipeline,
): void {
  for (const [vertex, { limits }] of live) {
    if (limits === undefined || !next.vertices.some((one) => one.name === vertex)) continue;
    try {
      checkLimits(effectiveOf(next, withOwnRate(next, vertex, limits)), `${name}.${vertex}.limits`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ConfigError(
        `limits of vertex ${name}/${vertex} that were set while it ran do not fit the new file: ${why}; take them back with sluice limits unset vertex ${name}/${vertex}, or mend the file`,
        undefined,
        { cause: error },
      );
    }
  }
}

/** Limits are changed live, but for one that the new file does not have: the engine would inherit the former one. */
export function needsRestart(before: FlowPipeline, after: FlowPipeline): boolean {
  if (!isDeepStrictEqual(withoutLimits(before), withoutLimits(after))) return true;
  return after.vertices.some(({ name }) => isLimited(before, name) && !isLimited(after, name));
}

/** What cannot be changed while a pipeline runs. */
function withoutLimits(flow: FlowPipeline): object {
  const vertices = flow.vertices.map((vertex) => ({ ...vertex, limits: undefined }));
  return { ...flow, limits: undefined, vertices };
}
