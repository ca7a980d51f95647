import type { Timer } from "@sluice/core";
import type { Redis } from "ioredis";
import { ConnectorError } from "../connector-error.ts";
import { redisError } from "./redis-failure.ts";
import type { RedisConnecting } from "./redis-options.ts";

export type Argument = string | number | Buffer;

export interface RedisLineOptions extends RedisConnecting {
  /** Names the connector in errors. */
  readonly what: string;
  readonly timer: Timer;
}

/**
 * One connection: made when a call needs it, and made anew by the call after it was lost. A call takes at most
 * `timeoutMs` and the wait that it asks for. No call is queued, and none is sent twice.
 */
export class RedisLine {
  readonly #options: RedisLineOptions;
  #client: Redis | undefined;
  #connecting: Promise<Redis> | undefined;
  #isClosed = false;
  #connections = 0;

  constructor(options: RedisLineOptions) {
    this.#options = options;
  }

  /** Connections made so far: a higher number tells that replies may have been lost. */
  get connections(): number {
    return this.#connections;
  }

  /** Replies are buffers and lists of them. `waitMs`: how long the server may let the command wait. */
  call(args: readonly [string, ...Argument[]], waitMs: number = 0): Promise<unknown> {
    const [name, ...rest] = args;
    return this.#within(waitMs, (client) => client.callBuffer(name, ...rest));
  }

  /** Sends all commands at once; a reply or an error for each. Rejects if there is no connection, or an answer is late. */
  many(commands: readonly (readonly [string, ...Argument[]])[]): Promise<unknown[]> {
    return this.#within(0, async (client) => {
      const replies = await Promise.allSettled(
        commands.map(([name, ...rest]) => client.callBuffer(name, ...rest)),
      );
      return replies.map((reply): unknown =>
        reply.status === "fulfilled" ? reply.value : this.errorOf(reply.reason),
      );
    });
  }

  /** Connects if needed. */
  async ready(): Promise<void> {
    await this.#within(0, () => Promise.resolve());
  }

  errorOf(error: unknown): Error {
    const { what, secrets } = this.#options;
    return redisError(what, error, secrets);
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  async #within<T>(waitMs: number, run: (client: Redis) => Promise<T>): Promise<T> {
    const { timer, timeoutMs } = this.#options;
    const limitMs = timeoutMs + waitMs;
    const ended = new AbortController();
    const late = timer.sleep(limitMs, ended.signal).then(() => {
      // A late reply would bring messages that nobody takes.
      this.#drop();
      throw new Error(`no answer within ${limitMs} ms`);
    });
    try {
      return await Promise.race([this.#connected().then(run), late]);
    } catch (error) {
      throw this.errorOf(error);
    } finally {
      ended.abort();
      late.catch(() => undefined);
    }
  }

  async #connected(): Promise<Redis> {
    if (this.#isClosed) throw new ConnectorError(`${this.#options.what} is closed`);
    if (this.#client?.status === "ready") return this.#client;
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Redis> {
    this.#drop();
    const client = await this.#options.connect();
    let reason: Error | undefined;
    // Without a listener the library writes errors to the console.
    client.on("error", (error: Error) => (reason = error));
    this.#client = client;
    try {
      await client.connect();
    } catch (error) {
      client.disconnect();
      // "Connection is closed." is all that the promise tells; the reason comes by the event.
      throw reason ?? error;
    }
    if (this.#isClosed) {
      client.disconnect();
      throw new ConnectorError(`${this.#options.what} is closed`);
    }
    this.#connections++;
    return client;
  }

  #drop(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }
}
