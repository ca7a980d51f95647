import { ConfigError } from "@sluice/core";
import { requireDuration, requireNumber, requireWhole } from "@sluice/core/internal";
import { requireOptions, shown } from "../connector/check-options.ts";
import type { PipelineDefinition, RetryDefinition } from "./pipeline-definition.ts";

const NAME = /^[A-Za-z0-9_-]+$/;
/** Tries of one message. */
const ATTEMPTS_MAX = 1_000_000;

const KEYS = [
  "name",
  "source",
  "maps",
  "sink",
  "limits",
  "retry",
  "deadLetter",
  "bufferMax",
  "drainMs",
] as const satisfies (keyof PipelineDefinition)[];
const RETRY_KEYS = [
  "attempts",
  "backoffMs",
  "backoffMaxMs",
] as const satisfies (keyof RetryDefinition)[];

/** Refuses a definition that cannot be run. */
export function checkDefinition(definition: PipelineDefinition): void {
  requireOptions("a pipeline", definition, { known: KEYS, example: 'pipeline("orders")' });
  const { name, source, maps, sink, retry, deadLetter, bufferMax, drainMs } = definition;
  requireName("the pipeline", name);
  const names = [source.name, ...maps.map((map) => map.name), sink.name];
  for (const vertex of names) requireName(`a vertex of ${name}`, vertex);
  const twice = names.find((vertex, index) => names.indexOf(vertex) !== index);
  if (twice !== undefined)
    throw new ConfigError(`${name} has two vertices named ${twice}; names must differ`);
  requireConnector(`the source of ${name}`, source.source, "generator({ values: [1, 2, 3] })");
  for (const { name: map, map: connector } of maps)
    requireConnector(
      `the map ${map} of ${name}`,
      connector,
      "a function, or mapModule({ module })",
    );
  requireConnector(`the sink of ${name}`, sink.sink, "blackhole()");
  if (deadLetter !== undefined)
    requireConnector(`deadLetter of ${name}`, deadLetter, "fileSink({ path })");
  if (retry !== undefined)
    requireOptions("retry", retry, { known: RETRY_KEYS, example: "retry: { attempts: 5 }" });
  const { attempts, backoffMs, backoffMaxMs } = retry ?? {};
  if (attempts !== undefined && attempts !== Infinity)
    requireWhole("retry.attempts", attempts, 1, ATTEMPTS_MAX);
  if (backoffMs !== undefined) requireNumber("retry.backoffMs", backoffMs, 0, 3_600_000);
  if (backoffMaxMs !== undefined)
    requireNumber("retry.backoffMaxMs", backoffMaxMs, backoffMs ?? 0, 86_400_000);
  if (bufferMax !== undefined) requireWhole("bufferMax", bufferMax, 1, 10_000_000);
  if (drainMs !== undefined) requireDuration("drainMs", drainMs);
}

/** A function is most likely a connector that was not called. */
function requireConnector(what: string, connector: unknown, example: string): void {
  const { open } = (connector ?? {}) as { readonly open?: unknown };
  if (typeof open === "function") return;
  const hint = typeof connector === "function" ? "call it with its options; " : "";
  throw new ConfigError(
    `${what} is ${shown(connector)}; ${hint}it must be a connector, such as ${example}`,
  );
}

function requireName(what: string, name: unknown): void {
  if (typeof name === "string" && NAME.test(name)) return;
  throw new ConfigError(
    `the name of ${what} is ${JSON.stringify(name)}; it must be letters, digits, - and _, such as "orders"`,
  );
}
