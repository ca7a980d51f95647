import type { Timer } from "@sluice/core";
import { StoreError } from "../../store-error.ts";
import type { OpenConnection, RedisConnection } from "./connection.ts";

/**
 * Pause after a failed attempt to connect: `RETRY_STEP_MS × attempts`, at most `RETRY_MAX_MS`. Calls
 * meanwhile fail at once with the reason of the last attempt. Raised, a server that is back is found
 * later; lowered, a server that is down sees more attempts. A member syncs every 500 ms, so most
 * pauses end between two syncs.
 */
const RETRY_STEP_MS = 50;
const RETRY_MAX_MS = 1000;

/**
 * A connection is given up after this many timeouts without a reply: an attempt to connect after
 * `4 × timeoutMs`, an established connection after 4 late replies in a row. Raised, a hung server
 * is left later; lowered, a slow one is left while it would still answer.
 */
export const TIMEOUTS_UNTIL_DEAD = 4;

/**
 * The one connection of a store: made when a call needs it, and made anew when a call finds it lost.
 * Client libraries are told not to reconnect, so that all of them behave alike.
 */
export class RedisLink {
  readonly #open: Promise<OpenConnection>;
  readonly #timer: Timer;
  readonly #timeoutMs: number;
  #attempt: Promise<RedisConnection> | undefined;
  #connection: RedisConnection | undefined;
  #failures = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #lastError: Error = new Error("not connected yet");
  #lateReplies = 0;
  #isClosed = false;

  constructor(open: Promise<OpenConnection>, timer: Timer, timeoutMs: number) {
    this.#open = open;
    this.#timer = timer;
    this.#timeoutMs = timeoutMs;
    // A library that is missing is reported by the first call.
    open.catch(() => undefined);
  }

  /** The connection, once it is ready. Rejects with the reason if it cannot be made. */
  async connection(): Promise<RedisConnection> {
    if (this.#isClosed) throw new StoreError("Redis: the store is closed");
    if (this.#connection?.isReady === true) return this.#connection;
    if (this.#attempt === undefined && this.#timer.now() < this.#retryAtMs) throw this.#lastError;
    this.#attempt ??= this.#connect().finally(() => (this.#attempt = undefined));
    return this.#attempt;
  }

  /** A reply has come over this connection, or an error reply. */
  noteReply(): void {
    this.#lateReplies = 0;
  }

  /** Tells of a call that was not answered in time; answers what it was waiting for. */
  noteLate(): "connection" | "answer" {
    if (this.#connection?.isReady !== true) return "connection";
    this.#lateReplies++;
    if (this.#lateReplies >= TIMEOUTS_UNTIL_DEAD) this.drop();
    return "answer";
  }

  /** Gives the connection up; the next call makes another. */
  drop(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#lateReplies = 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.drop();
    await this.#attempt?.catch(() => undefined);
  }

  async #connect(): Promise<RedisConnection> {
    this.drop();
    const open = await this.#open;
    const connection = open();
    const settled = new AbortController();
    const limitMs = TIMEOUTS_UNTIL_DEAD * this.#timeoutMs;
    const late = this.#timer.sleep(limitMs, settled.signal).then(() => {
      throw new Error(`no connection within ${limitMs} ms`);
    });
    this.#connection = connection;
    try {
      await Promise.race([connection.connect(), late]);
      if (this.#isClosed) throw new StoreError("Redis: the store is closed");
      this.#failures = 0;
      return connection;
    } catch (error) {
      connection.close();
      this.#failures++;
      this.#lastError = error instanceof Error ? error : new Error(String(error));
      const pauseMs = Math.min(RETRY_STEP_MS * this.#failures, RETRY_MAX_MS);
      this.#retryAtMs = this.#timer.now() + pauseMs;
      throw error;
    } finally {
      settled.abort();
    }
  }
}
