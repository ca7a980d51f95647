import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";

/** Windows has no process groups; a detached child would get a console window there. */
const HAS_GROUPS = process.platform !== "win32";

/** Options of `spawn` for a child whose own children are reached by `killGroup`. */
export const OWN_GROUP: { readonly detached: boolean } = { detached: HAS_GROUPS };

/** Children that run. Their groups are not reached by a Ctrl-C of the terminal. */
const running = new Set<ChildProcess>();

/** Ends the child and what it has started if this process exits before `forget`, such as by an error that nothing catches. */
export function endAtExit(child: ChildProcess): void {
  if (running.size === 0) process.on("exit", endAll);
  running.add(child);
}

export function forget(child: ChildProcess): void {
  if (running.delete(child) && running.size === 0) process.off("exit", endAll);
}

function endAll(): void {
  for (const child of running) killGroup(child, "SIGKILL");
}

/** Sends a signal to a child and to what it has started: a shell that is killed alone leaves its program behind. */
export function killGroup({ pid }: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  // It was never started.
  if (pid === undefined) return;
  if (!HAS_GROUPS) {
    // Signals do not exist there: both end the whole tree at once.
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" }).on(
      "error",
      () => undefined,
    );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}
