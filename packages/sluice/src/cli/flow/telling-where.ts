import type { PoolStore } from "@sluice/fleet";

/** Longer host names are cut; the process id tells their processes apart. */
const HOST_MAX = 63;

/** The place of a process, for people: "shop-1:4121". */
export function placeOfProcess(host: string, processId: number): string {
  const name = host.replaceAll(/[^A-Za-z0-9.-]/g, "-").slice(0, HOST_MAX);
  return `${name === "" ? "host" : name}:${processId}`;
}

/** The store for the members of one process: every sync says where the process runs. */
export function tellingWhere(store: PoolStore, where: string): PoolStore {
  return {
    sync: (request) => store.sync({ ...request, where }),
    leave: (request) => store.leave(request),
    setLimits: (pool, text) => store.setLimits(pool, text),
    roster: async (pool) => await store.roster?.(pool),
    close: () => store.close(),
  };
}
