import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/**
 * Descriptors that clients do not get: for files, connections to brokers, the administration, and a client that is told
 * why it is refused. At the system's limit libuv accepts connections and closes them, and Node hears nothing of it.
 */
const RESERVED = 32;

/** At most this part is kept back where the limit is low. */
const RESERVED_PART = 1 / 4;

/** Whether there are file descriptors for more clients. */
export class Descriptors {
  readonly #max: number;
  readonly #reserved: number;

  /** `max`: the most that the process may have open. */
  constructor(max: number = descriptorsMax()) {
    this.#max = max;
    this.#reserved = Math.min(RESERVED, Math.floor(max * RESERVED_PART));
  }

  /** Why a connection that was accepted cannot be served; undefined if it can. */
  refusalOf(socket: Socket): string | undefined {
    // The system gives the lowest number that is free: those below it are in use.
    if (descriptorOf(socket) < this.#max - this.#reserved) return undefined;
    return `no file descriptors are left (EMFILE): ${this.#max} may be open; raise ulimit -n, or use fewer connections`;
  }
}

/** -1 where the system has no such numbers. Node has no documented way to ask. */
function descriptorOf(socket: Socket): number {
  const handle = Reflect.get(socket, "_handle") as { readonly fd?: number } | null | undefined;
  return handle?.fd ?? -1;
}

/** Infinity where the system does not say. */
function descriptorsMax(): number {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
    return found === null ? Infinity : Number(found[1]);
  } catch {
    return Infinity;
  }
}
