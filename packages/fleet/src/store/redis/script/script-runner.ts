import type { Timer } from "@sluice/core";
import { StoreError } from "../../store-error.ts";
import type { OpenConnection } from "../connect/connection.ts";
import { storeErrorOf } from "../failure.ts";
import { RedisLink } from "../connect/link.ts";
import type { Redaction } from "@sluice/core/internal";
import type { RedisScript } from "./scripts.ts";

export interface ScriptRunnerOptions {
  readonly open: Promise<OpenConnection>;
  readonly redaction: Redaction;
  readonly timer: Timer;
  readonly timeoutMs: number;
}

/**
 * Runs scripts on the server. A call takes at most `timeoutMs`, the connection included. A call is
 * never queued, and never sent again once it may have been executed.
 */
export class ScriptRunner {
  readonly #link: RedisLink;
  readonly #redaction: Redaction;
  readonly #timer: Timer;
  readonly #timeoutMs: number;

  constructor({ open, redaction, timer, timeoutMs }: ScriptRunnerOptions) {
    this.#link = new RedisLink(open, timer, timeoutMs);
    this.#redaction = redaction;
    this.#timer = timer;
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with a `StoreError` that contains no secret. An undefined argument is sent as "". */
  async run(
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number | undefined)[],
  ): Promise<unknown> {
    const texts = args.map((value) => (value === undefined ? "" : String(value)));
    const ended = new AbortController();
    const { signal } = ended;
    const late = this.#timer.sleep(this.#timeoutMs, signal).then(() => {
      throw new StoreError(`Redis: no ${this.#link.noteLate()} within ${this.#timeoutMs} ms`);
    });
    try {
      return await Promise.race([this.#send(script, keys, texts, signal), late]);
    } catch (error) {
      throw storeErrorOf(error, this.#redaction);
    } finally {
      ended.abort();
    }
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #send(
    { text, sha }: RedisScript,
    keys: readonly string[],
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<unknown> {
    const connection = await this.#link.connection();
    // The caller was already told of the timeout: the call must not be executed now.
    signal.throwIfAborted();
    try {
      return await this.#reply(connection.evalsha(sha, keys, args));
    } catch (error) {
      if (!isReply(error, "NOSCRIPT")) throw error;
    }
    signal.throwIfAborted();
    return this.#reply(connection.eval(text, keys, args));
  }

  async #reply(call: Promise<unknown>): Promise<unknown> {
    try {
      const reply = await call;
      this.#link.noteReply();
      return reply;
    } catch (error) {
      // A master that has become a replica: the next connection asks Sentinel, or DNS, for the new one.
      if (isReply(error, "READONLY")) this.#link.drop();
      throw error;
    }
  }
}

/** Redis 6 puts the code of a command that failed inside a script after words of its own. */
function isReply(error: unknown, code: "NOSCRIPT" | "READONLY"): boolean {
  return error instanceof Error && error.message.includes(code);
}
