import { resolve } from "node:path";
import { ConfigError } from "@sluice/core";
import {
  blackhole,
  fileSink,
  fileSource,
  generator,
  mapModule,
  stdinSource,
  stdoutSink,
} from "@sluice/pipeline";
import type {
  FileSinkOptions,
  FileSourceOptions,
  Format,
  MapConnector,
  SinkConnector,
  SourceConnector,
} from "@sluice/pipeline";
import type { Chosen } from "../flow/pipeline/choice.ts";
import type { Connectors } from "./define-pipeline.ts";

interface ConnectorWorld {
  /** Paths are taken from here: the folder of the flow file. */
  readonly folder: string;
  /** The broker of Pulsar connectors without a URL: the gateway of the same file. */
  readonly gatewayUrl: string | undefined;
}

/** A connector's options in a flow file. They are checked. */
type Options = Chosen["options"];

type Make<T> = (options: Options, world: ConnectorWorld) => T | Promise<T>;

const SOURCES: Readonly<Record<string, Make<SourceConnector>>> = {
  generator: ({ rate, count, values }) =>
    generator<unknown>({
      values: (values as readonly unknown[] | undefined) ?? ((index: number) => ({ n: index })),
      ratePerSecond: rate as number | undefined,
      // A list alone would end with its last value.
      count: (count as number | undefined) ?? (values === undefined ? undefined : ENDLESS),
    }),
  file: ({ path, checkpoint, follow, lineMax, format }, { folder }) =>
    fileSource({
      path: resolve(folder, path as string),
      checkpoint: at(folder, checkpoint),
      follow: follow as FileSourceOptions["follow"],
      lineMaxBytes: lineMax as number | undefined,
      format: format as Format | undefined,
    }),
  stdin: ({ format }) => stdinSource({ format: format as Format | undefined }),
};

const SINKS: Readonly<Record<string, Make<SinkConnector>>> = {
  blackhole: () => blackhole(),
  file: ({ path, sync }, { folder }) =>
    fileSink({ path: resolve(folder, path as string), sync: sync as FileSinkOptions["sync"] }),
  stdout: () => stdoutSink(),
};

const MAPS: Readonly<Record<string, Make<MapConnector>>> = {
  module: ({ module, settings, timeout }, { folder }) =>
    mapModule({
      module: resolve(folder, module as string),
      settings,
      timeoutMs: timeout as number | undefined,
    }),
};

/** Messages of a generator that has no end. */
const ENDLESS = Number.MAX_SAFE_INTEGER;

/** Makes the connectors of a flow file. */
export function flowConnectors(world: ConnectorWorld): Connectors {
  const make = async <T>(
    table: Readonly<Record<string, Make<T>>>,
    { kind, options }: Chosen,
  ): Promise<T> => {
    const maker = table[kind];
    if (maker === undefined)
      throw new ConfigError(`${kind} is not known; known are ${Object.keys(table).join(", ")}`);
    return maker(options, world);
  };
  return {
    source: (block) => make(SOURCES, block),
    map: (block) => make(MAPS, block),
    sink: (block) => make(SINKS, block),
  };
}

function at(folder: string, path: unknown): string | undefined {
  return typeof path === "string" ? resolve(folder, path) : undefined;
}
