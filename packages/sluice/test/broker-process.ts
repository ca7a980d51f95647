import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));

/** `sluice broker` as a process of its own, which a test may kill. */
export interface BrokerProcess {
  readonly url: string;
  /** As a power cut does to a process: nothing is flushed, nobody is told. */
  kill(): Promise<void>;
  /** As a user stops it; resolves with the exit code. */
  stop(): Promise<number | null>;
}

export async function startBrokerProcess(args: readonly string[]): Promise<BrokerProcess> {
  const child = spawn(process.execPath, [bin, "broker", "--json", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { urls } = JSON.parse(await firstLine(child)) as { readonly urls: readonly string[] };
  const exited = once(child, "exit") as Promise<[number | null]>;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = await exited;
    return code;
  };
  return {
    url: urls[0] ?? "",
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("a process without an output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("the broker ended before it was ready");
}
