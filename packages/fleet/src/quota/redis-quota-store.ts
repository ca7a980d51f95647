import type { QuotaReply, QuotaRequest, QuotaStore } from "@sluice/core";
import { checkQuotaRequest } from "@sluice/core/internal";
import type { RedisStoreOptions } from "../store/redis/options/options.ts";
import { readQuotaReply } from "./quota-reply.ts";
import { runnerOf } from "../store/redis/script/runner-of.ts";
import type { ScriptRunner } from "../store/redis/script/script-runner.ts";
import { loadScript } from "../store/redis/script/scripts.ts";
import type { RedisScript } from "../store/redis/script/scripts.ts";

/**
 * Quotas in Redis or Valkey, for inbound limiters of several processes: one round trip per call, one key
 * `sluice:quota:…` per client that expires when the quota is full again. Connections, timeouts and
 * errors are those of `redisStore`.
 *
 * @example
 * const store = redisQuotaStore({ url: "redis://localhost:6379" });
 * app.use(limitHttp({ name: "api", rate: "1000/min", store }));
 */
export function redisQuotaStore(options: RedisStoreOptions): QuotaStore {
  return new RedisQuotaStore(runnerOf(options));
}

class RedisQuotaStore implements QuotaStore {
  readonly #runner: ScriptRunner;
  readonly #script: RedisScript = loadScript("quota");

  constructor(runner: ScriptRunner) {
    this.#runner = runner;
  }

  async take(request: QuotaRequest): Promise<QuotaReply> {
    checkQuotaRequest(request);
    const { policies } = request;
    const reply = await this.#runner.run(this.#script, [quotaKey(request.key)], words(request));
    return readQuotaReply(reply, policies.length);
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

/** A call has one key, so any name is right in a cluster. */
export function quotaKey(key: string): string {
  return `sluice:quota:${key}`;
}

/** As `quota.lua` has them. */
function words(request: QuotaRequest): (string | number | undefined)[] {
  const { policies, needed, least, wanted, share, settled } = request;
  return [
    needed,
    least,
    wanted,
    share,
    settled?.leased,
    settled?.unused,
    settled?.term,
    policies.length,
    ...policies.flatMap(({ name, limit, periodMs, burst }) => [name, limit, periodMs, burst]),
  ];
}
