/** A flow that really runs: the quickstart's service, gateway, pipeline and producers, as processes on free ports. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";

const folder = fileURLToPath(new URL("../../../../examples/quickstart/", import.meta.url));
const bin = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

export interface RunningFlow {
  /** http://127.0.0.1:PORT */
  readonly admin: string;
  /** Stops the process that serves the page; the others go on. */
  readonly stop: () => Promise<void>;
  /** Starts it again at the same address. */
  readonly start: () => Promise<void>;
}

/** Runs it for all tests of a suite; `change` may stage another flow file. */
export function useFlow(change: (flow: string) => string = (flow) => flow): RunningFlow {
  let running: (RunningFlow & { readonly end: () => Promise<void> }) | undefined;
  beforeAll(async () => {
    running = await runFlow(change);
  });
  afterAll(async () => await running?.end());
  return {
    get admin() {
      return running?.admin ?? "";
    },
    stop: async () => await running?.stop(),
    start: async () => await running?.start(),
  };
}

async function runFlow(
  change: (flow: string) => string,
): Promise<RunningFlow & { readonly end: () => Promise<void> }> {
  const children: ChildProcess[] = [];
  const start = (args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    children.push(child);
    return child;
  };
  const service = await answerOf(start(["service.mjs", "0"]));
  let flow = change(readFileSync(`${folder}sluice.yaml`, "utf8"))
    .replaceAll(/127\.0\.0\.1:(6650|7070)/g, "127.0.0.1:0")
    .replace("http://127.0.0.1:9000", service["url"] ?? "");
  const run = async (): Promise<readonly [ChildProcess, Readonly<Record<string, string>>]> => {
    const child = start([bin, "run", "-", "--json"]);
    child.stdin?.end(flow);
    return [child, await answerOf(child)];
  };
  let [gateway, ready] = await run();
  const admin = ready["admin"] ?? "";
  await answerOf(start(["producers.mjs", ready["gateway"] ?? "", "--steady"]));
  // Started again, it listens where it did before.
  flow = flow
    .replace(/listen: 127\.0\.0\.1:0/, `listen: ${new URL(admin).host}`)
    .replace(/listen: pulsar:\/\/127\.0\.0\.1:0/, `listen: ${ready["gateway"] ?? ""}`);
  return {
    admin,
    stop: () => end(gateway),
    start: async () => {
      [gateway, ready] = await run();
    },
    end: async () => {
      for (const child of children.toReversed()) await end(child);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  // Not drained: nothing of it is looked at any more.
  child.kill("SIGKILL");
  await exited;
}

/** The line that each of these programs prints when it is ready. */
async function answerOf({ stdout }: ChildProcess): Promise<Readonly<Record<string, string>>> {
  if (stdout === null) throw new Error("the program has no standard output");
  const [line] = (await once(createInterface(stdout), "line")) as [string];
  // What it prints later is read, so that it never waits for its reader.
  stdout.resume();
  return JSON.parse(line) as Readonly<Record<string, string>>;
}
