import { existsSync, readFileSync } from "node:fs";
import { systemTimer } from "@sluice/core/system";

/** How to start a program that set-up has fetched or built. */
interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
}

interface BrokerProgram extends Program {
  readonly standaloneConf: string;
}

interface Missing {
  readonly missing: string;
}

export type ClientName = "python" | "java" | "flex" | "go";
/** Servers of the connectors of pipelines, and what checks `deploy/` and the packages. */
type ServerName = "nats" | "kafka" | "prometheus" | "kubernetes" | "packages";
type ProgramName = ClientName | ServerName | "broker";

/** Of the tests with Pulsar. */
const ALL: readonly ProgramName[] = ["python", "java", "flex", "go", "broker"];

const POLL_MS = 200;

/** How to start a client, or why it is not here; after `untilFound`. */
export function clientProgram(name: ClientName): Program | Missing {
  return JSON.parse(textOf(name)) as Program | Missing;
}

/** How to start Pulsar's own broker, or why it is not here; after `untilFound`. */
export function brokerProgram(): BrokerProgram | Missing {
  return JSON.parse(textOf("broker")) as BrokerProgram | Missing;
}

/** How to start a server, or why it is not here; after `untilFound`. */
export function serverProgram(name: ServerName): Program | Missing {
  return JSON.parse(textOf(name)) as Program | Missing;
}

/**
 * Waits until programs are fetched, or cannot be: set-up has a time-out of its own, and then writes the
 * reason. Tests that need less than all programs can begin while the others are fetched.
 */
export async function untilFound(names: readonly ProgramName[] = ALL): Promise<void> {
  for (const name of names) while (!existsSync(fileOf(name))) await systemTimer.sleep(POLL_MS);
}

function textOf(name: string): string {
  if (!existsSync(fileOf(name)))
    throw new Error(`${name} is not looked for yet: run \`npm run test:interop\``);
  return readFileSync(fileOf(name), "utf8");
}

/** Written by `scripts/interop-programs.mjs`. */
function fileOf(name: string): URL {
  return new URL(`../../node_modules/.cache/interop/${name}.json`, import.meta.url);
}
