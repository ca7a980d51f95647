import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { OpenContext } from "../../connector/open-context.ts";
import type { MapConnector } from "../map-connector.ts";
import type { Mapper } from "../mapper.ts";
import { CommandMapper } from "./command-mapper.ts";

export interface MapCommandOptions {
  /** The program, such as `python3`. */
  readonly command: string;
  /** Arguments of the program. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** The program's working directory. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Variables beside those of this process. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Longest time without an answer while messages are in flight, ms; the program is then replaced. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Time that a fresh program has beside `timeoutMs` until its first answer, ms. Default: 10 000. */
  readonly startMs?: number | undefined;
  /** Messages that the program has and has not answered. Default: 100. */
  readonly inFlightMax?: number | undefined;
  /** Bytes of one line of output; a longer one ends the program. Default: 16 MiB. */
  readonly lineBytesMax?: number | undefined;
  /** Longest pause before a restart, ms; pauses begin at 100 ms and double. Default: 10 000. */
  readonly restartMaxMs?: number | undefined;
  /** Texts that are hidden where lines of the program are told, such as tokens that it was given. Default: none. */
  readonly secrets?: readonly string[] | undefined;
}

/** The options, checked, with defaults. */
export interface MapCommandSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
  readonly startMs: number;
  readonly inFlightMax: number;
  readonly lineBytesMax: number;
  readonly restartMaxMs: number;
  readonly secrets: readonly string[];
}

const KEYS: ReadonlySet<string> = new Set([
  "command",
  "args",
  "cwd",
  "env",
  "timeoutMs",
  "startMs",
  "inFlightMax",
  "lineBytesMax",
  "restartMaxMs",
  "secrets",
] satisfies (keyof MapCommandOptions)[]);

/**
 * A map in a program of any language: it reads a line of JSON for each message and writes a line for each answer,
 * in any order. `docs/reference/maps.md` has the protocol.
 *
 * @example
 * mapCommand({ command: "python3", args: ["enrich.py"] })
 */
export function mapCommand<I = unknown, O = unknown>(
  options: MapCommandOptions,
): MapConnector<I, O> {
  const settings = readMapCommandOptions(options);
  return {
    kind: "command",
    open: (context: OpenContext) => CommandMapper.open(settings, context) as Promise<Mapper<I, O>>,
  };
}

function readMapCommandOptions(options: MapCommandOptions): MapCommandSettings {
  requireKnownKeys("mapCommand", options, KEYS);
  const { command, args = [], cwd, env } = options;
  const { timeoutMs = 30_000, startMs = 10_000, inFlightMax = 100 } = options;
  const { lineBytesMax = 16_777_216, restartMaxMs = 10_000, secrets = [] } = options;
  if (typeof command !== "string" || command === "")
    throw new ConfigError(
      `command is ${JSON.stringify(command)}; use a program, with its arguments in args: { command: "python3", args: ["map.py"] }`,
    );
  requireDuration("timeoutMs", timeoutMs, 1);
  requireDuration("startMs", startMs);
  requireWhole("inFlightMax", inFlightMax, 1, 1_000_000);
  requireWhole("lineBytesMax", lineBytesMax, 1, 1_073_741_824);
  requireDuration("restartMaxMs", restartMaxMs, 1);
  const times = { timeoutMs, startMs, restartMaxMs };
  return { command, args, cwd, env, ...times, inFlightMax, lineBytesMax, secrets };
}
