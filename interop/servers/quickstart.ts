/** The quickstart as `npm start` runs it, on free ports: service, gateway with its pipeline, producers. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { atExit } from "./at-exit.ts";

const folder = fileURLToPath(new URL("../../examples/quickstart/", import.meta.url));
const bin = fileURLToPath(new URL("../../packages/sluice/bin/sluice.js", import.meta.url));

export interface Quickstart extends AsyncDisposable {
  /** Where the administration answers: http://127.0.0.1:PORT. */
  readonly admin: string;
}

/** Starts all of it; `changed` may stage a fault in the flow file. */
export async function startQuickstart(
  changed: (flow: string) => string = (flow) => flow,
): Promise<Quickstart> {
  const children: ChildProcess[] = [];
  const start = (args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    children.unshift(child);
    atExit(() => child.kill("SIGKILL"));
    return child;
  };
  const service = await answerOf(start(["service.mjs", "0"]));
  const gateway = start([bin, "run", "-", "--json"]);
  const flow = readFileSync(`${folder}sluice.yaml`, "utf8")
    .replaceAll(/127\.0\.0\.1:(6650|7070)/g, "127.0.0.1:0")
    .replace("http://127.0.0.1:9000", service["url"] ?? "");
  gateway.stdin?.end(changed(flow));
  const ready = await answerOf(gateway);
  await answerOf(start(["producers.mjs", ready["gateway"] ?? "", "--steady"]));
  return {
    admin: ready["admin"] ?? "",
    [Symbol.asyncDispose]: async () => {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const exited = once(child, "exit");
        // Not drained: nothing of it is looked at any more.
        child.kill("SIGKILL");
        await exited;
      }
    },
  };
}

/** The line that each of these programs prints when it is ready. */
async function answerOf({ stdout }: ChildProcess): Promise<Readonly<Record<string, string>>> {
  if (stdout === null) throw new Error("the program has no standard output");
  const [line] = (await once(createInterface(stdout), "line")) as [string];
  // What it prints later is read, so that it never waits for its reader.
  stdout.resume();
  return JSON.parse(line) as Readonly<Record<string, string>>;
}
