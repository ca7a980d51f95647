import { ROSTER_MAX } from "../../ledger/roster.ts";
import type { PoolRoster } from "../../ledger/roster.ts";
import { requirePoolName } from "../names.ts";
import { checkLeave, checkLimits, checkSync } from "../check-request.ts";
import { LIMITS_TTL_MS } from "../memory-store.ts";
import type { LeaveRequest, PoolStore, SyncReply, SyncRequest } from "../pool-store.ts";
import { leaveArguments, ledgerKeys, limitsKey, syncArguments } from "./script/arguments.ts";
import type { RedisStoreOptions } from "./options/options.ts";
import { readLeft, readSyncReply, readVersion } from "./script/reply.ts";
import { readRoster } from "./script/roster-reply.ts";
import { runnerOf } from "./script/runner-of.ts";
import type { ScriptRunner } from "./script/script-runner.ts";
import { loadScripts } from "./script/scripts.ts";
import type { RedisScripts } from "./script/scripts.ts";

/**
 * Pools in Redis or Valkey: one server, Sentinel or Cluster. The store connects at the first call,
 * and again at the first call after the connection is lost. A call takes at most `timeoutMs`, is
 * never queued, and is never sent again once it may have been executed. No error contains a password.
 *
 * @example
 * const store = redisStore({ url: "redis://localhost:6379" });
 * const limiter = await joinFleet({ pool: "shop/orders", store, rateLimit: { max: 100 } });
 * // At the end:
 * await limiter.leave();
 * await store.close();
 */
export function redisStore(options: RedisStoreOptions): PoolStore {
  return new RedisStore(runnerOf(options));
}

class RedisStore implements PoolStore {
  readonly #runner: ScriptRunner;
  readonly #scripts: RedisScripts = loadScripts();

  constructor(runner: ScriptRunner) {
    this.#runner = runner;
  }

  async sync(request: SyncRequest): Promise<SyncReply> {
    checkSync(request);
    const keys = ledgerKeys(request.pool);
    const reply = await this.#runner.run(this.#scripts.sync, keys, syncArguments(request));
    return readSyncReply(reply, request);
  }

  async leave(request: LeaveRequest): Promise<void> {
    checkLeave(request);
    const keys = ledgerKeys(request.pool);
    readLeft(await this.#runner.run(this.#scripts.leave, keys, leaveArguments(request)));
  }

  async setLimits(pool: string, text: string): Promise<number> {
    checkLimits(pool, text);
    const keys = [limitsKey(pool)];
    return readVersion(
      await this.#runner.run(this.#scripts.setLimits, keys, [text, LIMITS_TTL_MS]),
    );
  }

  async roster(pool: string): Promise<PoolRoster | undefined> {
    requirePoolName(pool);
    const keys = ledgerKeys(pool);
    return readRoster(await this.#runner.run(this.#scripts.roster, keys, [ROSTER_MAX]));
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}
