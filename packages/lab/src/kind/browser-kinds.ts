import type { Kind } from "../scenario/kind.ts";

/**
 * The kinds that run without a module of Node.js, each loaded when it is first needed. `flow` is not among them: it
 * runs the real client and server, whose buffers and sockets no browser has.
 */
const LOADERS: Readonly<Record<string, () => Promise<Kind>>> = {
  concurrency: async () => (await import("./concurrency.ts")).concurrencyKind,
  ramp: async () => (await import("./ramp/ramp.ts")).rampKind,
  busy: async () => (await import("./busy.ts")).busyKind,
  overload: async () => (await import("./overload.ts")).overloadKind,
  publish: async () => (await import("./publish/publish.ts")).publishKind,
  pool: async () => (await import("./pool/pool.ts")).poolKind,
};

export const BROWSER_KINDS: readonly string[] = Object.keys(LOADERS);

/** Undefined if there is no such kind. */
export async function browserKind(name: string): Promise<Kind | undefined> {
  return Object.hasOwn(LOADERS, name) ? await LOADERS[name]?.() : undefined;
}
