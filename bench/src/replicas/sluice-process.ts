import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";

const BIN = fileURLToPath(new URL("../../../packages/sluice/bin/sluice.js", import.meta.url));

/** A start, or a stop, that takes longer has failed, ms. Chosen, not measured: no run came near it. */
const PATIENCE_MS = 30_000;

/** One `sluice` process. Lines of its standard error that report an error are kept. */
export class SluiceProcess {
  readonly errors: string[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, "exit");
    if (child.stderr === null) throw new Error("a sluice process without standard error");
    createInterface(child.stderr).on("line", (line) => {
      if (!isEventLine(line) || line.includes('"event":"error"')) this.errors.push(line);
    });
  }

  /** Starts a process; what it serves comes later, from `ready`. */
  static start(args: readonly string[], env: Readonly<Record<string, string>> = {}): SluiceProcess {
    const child = spawn(process.execPath, [BIN, ...args, "--json"], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    return new SluiceProcess(child);
  }

  /**
   * The line that says what the process serves, once all of it does; a line before says what a slow start waits for.
   * Fails if the process ends before.
   */
  async ready(): Promise<Readonly<Record<string, unknown>>> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("a sluice process without standard output");
    const served = new Promise<Readonly<Record<string, unknown>>>((resolve) => {
      createInterface(stdout).on("line", (line) => {
        const said = JSON.parse(line) as Readonly<Record<string, unknown>>;
        if (said["event"] === "ready") resolve(said);
      });
    });
    const ended = this.#exited.then(() => undefined);
    const ready = await this.#within(Promise.race([served, ended]));
    if (ready === undefined)
      throw new Error(`sluice ended at its start: ${this.errors.join("\n")}`);
    return ready;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** SIGTERM; the exit code once the process has drained. */
  async stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    await this.#within(this.#exited);
    return this.#child.exitCode;
  }

  async #within<T>(work: Promise<T>): Promise<T> {
    const stopped = new AbortController();
    const late = systemTimer.sleep(PATIENCE_MS, stopped.signal).then(() => {
      this.#child.kill("SIGKILL");
      throw new Error(`sluice did not start or stop within ${PATIENCE_MS} ms`);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      stopped.abort();
    }
  }
}

function isEventLine(line: string): boolean {
  return line.startsWith("{");
}
