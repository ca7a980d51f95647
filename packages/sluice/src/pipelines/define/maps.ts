import { resolve } from "node:path";
import { mapCommand, mapModule, mapThreads } from "@sluice/pipeline";
import type { MapConnector } from "@sluice/pipeline";
import type { Make } from "./connector-options.ts";

/**
 * Longest time of a call without `timeout`, ms, as of threads and commands. Without a bound a promise that never settles
 * would stop its pipeline for ever.
 */
const TIMEOUT_MS = 30_000;

const MIB: number = 2 ** 20;

/** Maps by their names in a flow file. */
export const MAPS: Readonly<Record<string, Make<MapConnector>>> = {
  module: ({ module, threads, memory, settings, timeout }, { folder, modules }) => {
    const file = resolve(folder, module as string);
    const options = {
      module: file,
      settings,
      timeoutMs: (timeout as number | undefined) ?? TIMEOUT_MS,
    };
    return threads === undefined
      ? mapModule({ ...options, version: modules?.of(file) })
      : mapThreads({
          ...options,
          threads: threads as number,
          memoryMb: memory === undefined ? undefined : Math.floor((memory as number) / MIB),
        });
  },
  command: async ({ command, env, timeout }, { folder, secrets }) => {
    const [program = "", ...args] = command as readonly string[];
    return mapCommand({
      command: program,
      args,
      cwd: folder,
      env: env as Readonly<Record<string, string>> | undefined,
      timeoutMs: timeout as number | undefined,
      secrets: await secrets(),
    });
  },
};
