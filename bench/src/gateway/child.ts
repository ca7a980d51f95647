import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What a child of this bench says when it is ready. */
export interface Ready {
  readonly port: number;
}

/** A process of its own, so that its CPU time is its own. */
export interface Child {
  readonly port: number;
  /** CPU time of the process so far, of all its threads, in milliseconds. */
  cpuMs(): Promise<number>;
  close(): Promise<void>;
}

/** Starts a script of this folder. */
export async function startChild(script: string, args: readonly string[]): Promise<Child> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, [...args], { execArgv: [], stdio: "inherit" });
  const [{ port }] = (await once(child, "message")) as [Ready];
  return {
    port,
    cpuMs: async () => {
      const answer = once(child, "message");
      child.send("cpu");
      const [{ user, system }] = (await answer) as [NodeJS.CpuUsage];
      return (user + system) / 1_000;
    },
    close: async () => {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}

/** The other side: says the port, answers questions, ends with its parent. */
export function serveParent(port: number): void {
  process.on("message", () => process.send?.(process.cpuUsage()));
  process.on("disconnect", () => process.exit(0));
  const ready: Ready = { port };
  process.send?.(ready);
}
