import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Storage = "memory" | "durable";

/** A broker that is stopped, with what it stored, when it is closed. */
export interface BrokerProcess {
  readonly url: string;
  /** Another process on the same folder, with nothing in memory. This one is gone. */
  restart(): Promise<BrokerProcess>;
  close(): Promise<void>;
}

export async function startBrokerProcess(storage: Storage): Promise<BrokerProcess> {
  return startOn(storage, await mkdtemp(join(tmpdir(), "sluice-bench-")));
}

async function startOn(storage: Storage, folder: string): Promise<BrokerProcess> {
  const script = fileURLToPath(new URL("broker-child.js", import.meta.url));
  const child = spawn(process.execPath, [script, storage === "memory" ? "memory" : folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const url = await firstLine(child);
  const stop = async (): Promise<void> => {
    const gone = once(child, "exit");
    child.stdin.end();
    await gone;
  };
  return {
    url,
    restart: async () => {
      await stop();
      return startOn(storage, folder);
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("a broker without an output");
  const [line] = (await once(stdout, "data")) as [Buffer];
  return line.toString().trim();
}
