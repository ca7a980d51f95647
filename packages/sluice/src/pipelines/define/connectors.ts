import { ConfigError } from "@sluice/core";
import type { MapConnector, SinkConnector, SourceConnector } from "@sluice/pipeline";
import type { Chosen } from "../../flow/pipeline/choice.ts";
import type { ConnectorWorld, Make } from "./connector-options.ts";
import type { Connectors } from "./define-pipeline.ts";
import { MAPS } from "./maps.ts";
import { SINKS } from "./sinks.ts";
import { SOURCES } from "./sources.ts";

/** Makes the connectors of a flow file. */
export function flowConnectors(shared: Omit<ConnectorWorld, "vertex">): Connectors {
  const world = { ...shared, vertex: "" };
  return {
    source: (block) => make<SourceConnector>(SOURCES, block, world),
    map: (block) => make<MapConnector>(MAPS, block, world),
    sink: (block, vertex) => make<SinkConnector>(SINKS, block, { ...world, vertex }),
  };
}

async function make<T>(
  makers: Readonly<Record<string, Make<T>>>,
  { kind, options }: Chosen,
  world: ConnectorWorld,
): Promise<T> {
  const maker = makers[kind];
  if (maker === undefined)
    throw new ConfigError(`${kind} is not known; known are ${Object.keys(makers).join(", ")}`);
  return maker(options, world);
}
