/** Redis on a virtual clock, so that replies that depend on time can be compared to the millisecond. */
import type { Clock } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";
import { ledgerKeys } from "../src/store/redis/script/arguments.ts";
import type { RedisScriptClient } from "../src/store/redis/connect/library.ts";
import { redisStore } from "../src/store/redis/store.ts";
import type { StoreUnderTest } from "./pool-store-contract.ts";

/** Put before a script: its TIME, in milliseconds, and its run id are then the last two arguments. */
const WITH_TIME = `
local server = redis
local redis = setmetatable({
  call = function(name, ...)
    if name ~= "TIME" then return server.call(name, ...) end
    local ms = tonumber(ARGV[#ARGV - 1])
    return {string.format("%.0f", math.floor(ms / 1000)), string.format("%.0f", ms % 1000 * 1000 + 999)}
  end,
  pcall = function(name, ...)
    if name ~= "INFO" then return server.pcall(name, ...) end
    return "# Replication\\r\\nmaster_replid:" .. ARGV[#ARGV] .. "\\r\\n"
  end,
}, {__index = server})
`;

/** A date in 2026, in milliseconds since 1970. */
const START_MS = 1_790_000_000_123;

/** A clock that can also be set back. */
export class StoreClock implements Clock {
  readonly #clock = new VirtualClock();
  #offsetMs = START_MS;

  now(): number {
    return this.#clock.now() + this.#offsetMs;
  }

  advance(ms: number): void {
    this.#clock.advance(ms);
  }

  setBack(ms: number): void {
    this.#offsetMs -= ms;
  }
}

/** A client whose scripts see the time of `clock`, on a server that is in its `run`th run. */
function timedClient(
  client: RedisScriptClient,
  clock: Clock,
  run: () => number,
): RedisScriptClient {
  return {
    evalsha: () => Promise.reject(new Error("NOSCRIPT it has another text here")),
    eval: (script, keyCount, ...words) =>
      client.eval(
        WITH_TIME + script,
        keyCount,
        ...words,
        String(Math.floor(clock.now())),
        String(run()),
      ),
  };
}

/** A store on a real server and a virtual clock. The caller closes the client. */
export function timedStore(
  client: RedisScriptClient & {
    del(...keys: string[]): Promise<number>;
    hdel(key: string, field: string): Promise<number>;
  },
  clock: StoreClock = new StoreClock(),
): StoreUnderTest {
  let run = 1;
  return {
    store: redisStore({ client: timedClient(client, clock, () => run), timeoutMs: 10_000 }),
    pass: (ms) => clock.advance(ms),
    setBack: (ms) => clock.setBack(ms),
    forget: async (pool, member) => {
      if (member === undefined) await client.del(...ledgerKeys(pool));
      else await client.hdel(ledgerKeys(pool)[0] ?? "", member);
    },
    restart: () => {
      run++;
    },
    close: () => Promise.resolve(),
  };
}
