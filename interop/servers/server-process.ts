import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { atExit } from "./at-exit.ts";

/** A JVM takes half a minute to start while other programs are compiled. */
const START_TIMEOUT_MS = 150_000;
const POLL_MS = 100;
const HOST = "127.0.0.1";

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A server with a folder of its own that listens on a port of the loopback address. */
export class ServerProcess {
  readonly folder: string;
  readonly port: number;
  readonly #start: ServerCommand;
  #process: ChildProcess | undefined;

  constructor(folder: string, port: number, start: ServerCommand) {
    this.folder = folder;
    this.port = port;
    this.#start = start;
  }

  /** Starts it, also again after `kill`, with the same data. */
  async start(): Promise<void> {
    const logFile = join(this.folder, "server.log");
    const log = await open(logFile, "a");
    const started = spawn(this.#start.command, this.#start.args, {
      cwd: this.folder,
      stdio: ["ignore", log.fd, log.fd],
    });
    this.#process = started;
    // Neither the process nor its folder may outlive a run, even one that is broken off.
    atExit(() => {
      started.kill("SIGKILL");
      rmSync(this.folder, { recursive: true, force: true });
    });
    await log.close();
    const untilMs = systemTimer.now() + START_TIMEOUT_MS;
    while (systemTimer.now() < untilMs && started.exitCode === null) {
      if (await isListening(this.port)) return;
      await systemTimer.sleep(POLL_MS);
    }
    const said = await readFile(logFile, "utf8");
    await this.stop();
    throw new Error(`the server did not start: ${said.slice(-2000)}`);
  }

  /** As if its process had crashed: nothing is written out, and connections are not closed in order. `SIGTERM` lets it write first. */
  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, "exit");
    running.kill(signal);
    await exited;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, HOST);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
