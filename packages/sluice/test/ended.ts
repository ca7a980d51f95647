import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Sends SIGKILL and waits for the exit: the folder of a process that still writes cannot be removed. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
