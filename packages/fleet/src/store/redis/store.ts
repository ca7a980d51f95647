import { SluiceError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { checkLeave, checkLimits, checkSync } from "../check-request.ts";
import { LIMITS_TTL_MS } from "../memory-store.ts";
import type { LeaveRequest, PoolStore, SyncReply, SyncRequest } from "../pool-store.ts";
import { linkClient, OwnRedis } from "./link.ts";
import type { RedisLink } from "./link.ts";
import { readRedisOptions } from "./options.ts";
import type { RedisSettings, RedisStoreOptions } from "./options.ts";
import { readLeft, readSyncReply, readVersion } from "./reply.ts";
import { loadScripts } from "./scripts.ts";
import type { RedisScript, RedisScripts } from "./scripts.ts";
import { StoreError } from "../store-error.ts";

/** So much is told of what the server or the client has said. */
const MESSAGE_MAX = 200;

/**
 * Pools in Redis: a single server, Sentinel or Cluster. Connects at the first call, and again whenever
 * the connection is lost. No call takes longer than `timeoutMs`, nothing is queued, and nothing that
 * may have been executed is sent again. `close()` ends the connection.
 */
export function redisStore(options: RedisStoreOptions): PoolStore {
  return new RedisStore(readRedisOptions(options));
}

class RedisStore implements PoolStore {
  readonly #link: RedisLink;
  readonly #timer: Timer;
  readonly #timeoutMs: number;
  readonly #scripts: RedisScripts = loadScripts();

  constructor({ target, timeoutMs, timer }: RedisSettings) {
    this.#link = "kind" in target ? new OwnRedis(target, timeoutMs) : linkClient(target);
    this.#timer = timer;
    this.#timeoutMs = timeoutMs;
  }

  async sync(request: SyncRequest): Promise<SyncReply> {
    checkSync(request);
    const { pool, member, nonce, sequence, size, level, limitsVersion, demand, times } = request;
    const reply = await this.#run(
      this.#scripts.sync,
      [keyOf(pool, "members"), keyOf(pool, "level"), keyOf(pool, "limits")],
      [
        member,
        nonce,
        sequence,
        size,
        level,
        limitsVersion,
        times.staleMs,
        times.learningMs,
        times.resumeTtlMs,
        demand?.entitled,
        demand?.held,
        demand?.wanted,
      ],
    );
    return readSyncReply(reply, request);
  }

  async leave(request: LeaveRequest): Promise<void> {
    checkLeave(request);
    const { pool, member, nonce, level, reason, resumeTtlMs } = request;
    const keys = [keyOf(pool, "members"), keyOf(pool, "level")];
    const reply = await this.#run(this.#scripts.leave, keys, [
      member,
      nonce,
      level,
      reason,
      resumeTtlMs,
    ]);
    readLeft(reply);
  }

  async setLimits(pool: string, text: string): Promise<number> {
    checkLimits(pool, text);
    const keys = [keyOf(pool, "limits")];
    return readVersion(await this.#run(this.#scripts.setLimits, keys, [text, LIMITS_TTL_MS]));
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #run(
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number | undefined)[],
  ): Promise<unknown> {
    const words = [...keys, ...args.map((value) => (value === undefined ? "" : String(value)))];
    const stop = new AbortController();
    const late = this.#timer.sleep(this.#timeoutMs, stop.signal).then(() => {
      throw new StoreError(`no answer within ${this.#timeoutMs} ms`);
    });
    try {
      return await Promise.race([
        this.#send(script, { keys: keys.length, words }, stop.signal),
        late,
      ]);
    } catch (error) {
      throw this.#storeErrorOf(error);
    } finally {
      stop.abort();
    }
  }

  async #send(
    { text, sha }: RedisScript,
    { keys, words }: { readonly keys: number; readonly words: readonly string[] },
    signal: AbortSignal,
  ): Promise<unknown> {
    const client = await this.#link.ready(signal);
    // Whoever asked has given up: what is sent now would be executed for nobody.
    signal.throwIfAborted();
    try {
      return await client.evalsha(sha, keys, ...words);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
    }
    signal.throwIfAborted();
    return client.eval(text, keys, ...words);
  }

  /** Says what went wrong without what must not be told: a client's error holds the command, and so the password. */
  #storeErrorOf(error: unknown): Error {
    if (error instanceof SluiceError && !(error instanceof StoreError)) return error;
    const { lastError, secrets } = this.#link;
    const why = lastError === undefined ? "" : `: ${messageOf(lastError)}`;
    let message = error instanceof StoreError ? `${error.message}${why}` : messageOf(error);
    for (const secret of secrets) message = message.replaceAll(secret, "***");
    return new StoreError(`Redis: ${message}`);
  }
}

/** One hash tag for all keys of a pool, so that they are in one slot of a cluster. */
function keyOf(pool: string, what: string): string {
  return `sluice:{${pool}}:${what}`;
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // Control characters would forge lines of a log.
  return message.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").slice(0, MESSAGE_MAX);
}
