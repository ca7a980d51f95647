import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../free-port.ts";

export interface OwnRedis {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

const HOST = "127.0.0.1";

/** Finds a Redis server or fetches one, and prints its path first; the tests use it too. */
const FINDER = fileURLToPath(new URL("../../../scripts/redis.mjs", import.meta.url));

/** A server of our own on a free port, that keeps nothing; ended by its process id. */
export async function startRedis(): Promise<OwnRedis> {
  const [path = ""] = spawnSync(process.execPath, [FINDER], { encoding: "utf8" }).stdout.split(
    "\n",
  );
  if (!existsSync(path)) throw new Error(`${path}: install redis-server and try again`);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const args = ["--port", String(port), "--bind", HOST, "--save", "", "--dir", folder];
  const child = spawn(path, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const chunk of child.stdout) if (String(chunk).includes("Ready to accept")) break;
  return {
    port,
    stop: async () => {
      const exited = once(child, "exit");
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
