import { systemClock } from "@sluice/core/system";
import { redisStore } from "@sluice/fleet";
import type { PoolStore, SyncReply } from "@sluice/fleet";
import { Redis } from "ioredis";

/** Members of the largest pool. */
export const MEMBERS = 1000;
/** Syncs a second of one member, by default. */
const SYNCS_PER_SECOND = 2;
/** Connections that the members share. More make Redis read fewer commands at once, as many processes do. */
const CONNECTIONS = 50;
/** An empty store learns for 6 s; shares are then handed over. */
const SETTLE_MS = 9000;
const PARTS = 1_000_000_000;
const TIMING = { syncIntervalMs: 500, leaseMs: 5000, staleMs: 6500, timeoutMs: 250 };
/** As many keys and arguments as a sync has. */
const EMPTY_KEYS = ["a", "b", "c", "d", "e"].map((name) => `sluice:{empty}:${name}`);
const EMPTY_ARGS = Array.from({ length: 19 }, (_, index) => String(1_000_000 + index));

/** What the store works for a pool of 1,000 members. */
export interface StoreLoad {
  /** CPU of the Redis process for one sync, µs, sockets included. */
  readonly syncMicros: number;
  /** The same for a script that only returns 1: what any script costs on this machine. */
  readonly emptyMicros: number;
  /** Bytes of one reply, as sent. */
  readonly replyBytes: number;
  /** Part of one core that 1,000 members cost: `syncMicros × 1000 × 2 ÷ 10^6`. */
  readonly coreShare: number;
}

/** Runs the syncs of 1,000 members against the server, as fast as it answers, for `ms`. */
export async function measureStoreLoad(port: number, ms: number): Promise<StoreLoad> {
  const client = new Redis({ port });
  const stores = Array.from({ length: CONNECTIONS }, () =>
    redisStore({ url: `redis://127.0.0.1:${port}`, timeoutMs: 60_000 }),
  );
  const members = Array.from({ length: MEMBERS }, (_, index) => new Member(`m-${index}`));
  const syncAll = async (): Promise<number> => {
    await Promise.all(
      stores.map(async (store, first) => {
        for (let index = first; index < MEMBERS; index += CONNECTIONS)
          await members[index]?.sync(store);
      }),
    );
    return MEMBERS;
  };
  await repeat(syncAll, SETTLE_MS);
  const syncs = await costOf(client, syncAll, ms);
  await Promise.all(stores.map((store) => store.close()));

  const clients = Array.from({ length: CONNECTIONS }, () => new Redis({ port }));
  const sha = String(await client.script("LOAD", "return 1"));
  const callAll = async (): Promise<number> => {
    await Promise.all(
      clients.map((each) => each.evalsha(sha, EMPTY_KEYS.length, ...EMPTY_KEYS, ...EMPTY_ARGS)),
    );
    return CONNECTIONS;
  };
  const empty = await costOf(client, callAll, ms);
  for (const each of [client, ...clients]) each.disconnect();
  return {
    syncMicros: syncs.micros,
    emptyMicros: empty.micros,
    replyBytes: syncs.bytes,
    coreShare: (syncs.micros * MEMBERS * SYNCS_PER_SECOND) / 1_000_000,
  };
}

class Member {
  readonly #id: string;
  #held = 0;
  #sequence = 0;

  constructor(id: string) {
    this.#id = id;
  }

  async sync(store: PoolStore): Promise<void> {
    this.#sequence++;
    const reply: SyncReply = await store.sync({
      pool: "bench/store-load",
      member: this.#id,
      nonce: "0123456789abcdef0123456789abcdef",
      sequence: this.#sequence,
      isFirst: this.#sequence === 1,
      held: this.#held,
      isHeldUnleased: false,
      wanted: PARTS,
      safeShare: PARTS / MEMBERS,
      startsOnSafeShare: false,
      needsRank: true,
      level: 1000,
      limits: { version: 0, text: undefined },
      timing: TIMING,
      resumeTtlMs: 180_000,
    });
    if (reply.kind === "told") this.#held = reply.told;
  }
}

interface Cost {
  readonly micros: number;
  readonly bytes: number;
}

/** CPU time and bytes sent of the server for one call. */
async function costOf(client: Redis, calls: () => Promise<number>, ms: number): Promise<Cost> {
  const before = await usageOf(client);
  const count = await repeat(calls, ms);
  const after = await usageOf(client);
  return {
    micros: (1_000_000 * (after.seconds - before.seconds)) / count,
    bytes: (after.bytes - before.bytes) / count,
  };
}

async function repeat(calls: () => Promise<number>, ms: number): Promise<number> {
  const untilMs = systemClock.now() + ms;
  let count = 0;
  while (systemClock.now() < untilMs) count += await calls();
  return count;
}

async function usageOf(client: Redis): Promise<{ seconds: number; bytes: number }> {
  const cpu = await client.info("cpu");
  const stats = await client.info("stats");
  return {
    seconds: field(cpu, "used_cpu_user") + field(cpu, "used_cpu_sys"),
    bytes: field(stats, "total_net_output_bytes"),
  };
}

function field(info: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1]);
}
