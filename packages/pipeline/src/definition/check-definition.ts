import { ConfigError } from "@sluice/core";
import { requireDuration, requireNumber, requireWhole } from "@sluice/core/internal";
import type { PipelineDefinition } from "./pipeline-definition.ts";

const NAME = /^[A-Za-z0-9_-]+$/;
/** Tries of one message. */
const ATTEMPTS_MAX = 1_000_000;

/** Refuses a definition that cannot be run. */
export function checkDefinition(definition: PipelineDefinition): void {
  const { name, source, maps, sink, retry, bufferMax, drainMs } = definition;
  requireName("the pipeline", name);
  const names = [source.name, ...maps.map((map) => map.name), sink.name];
  for (const vertex of names) requireName(`a vertex of ${name}`, vertex);
  const twice = names.find((vertex, index) => names.indexOf(vertex) !== index);
  if (twice !== undefined)
    throw new ConfigError(`${name} has two vertices named ${twice}; names must differ`);
  const { attempts, backoffMs, backoffMaxMs } = retry ?? {};
  if (attempts !== undefined && attempts !== Infinity)
    requireWhole("retry.attempts", attempts, 1, ATTEMPTS_MAX);
  if (backoffMs !== undefined) requireNumber("retry.backoffMs", backoffMs, 0, 3_600_000);
  if (backoffMaxMs !== undefined)
    requireNumber("retry.backoffMaxMs", backoffMaxMs, backoffMs ?? 0, 86_400_000);
  if (bufferMax !== undefined) requireWhole("bufferMax", bufferMax, 1, 10_000_000);
  if (drainMs !== undefined) requireDuration("drainMs", drainMs);
}

function requireName(what: string, name: unknown): void {
  if (typeof name === "string" && NAME.test(name)) return;
  throw new ConfigError(
    `the name of ${what} is ${JSON.stringify(name)}; it must be letters, digits, - and _, such as "orders"`,
  );
}
