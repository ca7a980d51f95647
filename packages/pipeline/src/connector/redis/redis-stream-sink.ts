import { requireWhole } from "@sluice/core/internal";
import type { Message } from "../../message.ts";
import { requireOptions, requireText } from "../check-options.ts";
import { unsendable } from "../format.ts";
import type { Sink, SinkConnector, WriteResult } from "../sink.ts";
import { fieldsOf } from "./entry.ts";
import { RedisLine } from "./redis-line.ts";
import type { Argument } from "./redis-line.ts";
import { CONNECTION_KEYS, readConnection } from "./redis-options.ts";
import type { RedisConnectionOptions } from "./redis-options.ts";

export interface RedisStreamSinkOptions extends RedisConnectionOptions {
  /** The key of the stream; it is created by the first message. */
  readonly stream: string;
  /** Entries that the stream keeps, about (`MAXLEN ~`): older ones are removed, also unread ones. Default: all. */
  readonly lengthMax?: number | undefined;
  /** The field of the value. @default "value" */
  readonly field?: string | undefined;
}

/** Commands that are sent together, at most: bounds the memory that replies take. */
const TOGETHER_MAX = 1000;

/**
 * Adds messages to a stream of Redis or Valkey (`XADD`). A message whose reply was lost is written again, so it may
 * be there twice; both entries have the same field `id`.
 *
 * @example
 * redisStreamSink({ url: "redis://localhost:6379", stream: "orders", lengthMax: 1_000_000 });
 */
export function redisStreamSink(options: RedisStreamSinkOptions): SinkConnector {
  const what = "redisStreamSink";
  const known = [...CONNECTION_KEYS, "stream", "lengthMax", "field"];
  const example = `${what}({ url: "redis://localhost:6379", stream: "orders" })`;
  requireOptions(what, options, { known, example });
  const { stream, lengthMax, field = "value" } = options;
  requireText(`stream of ${what}`, stream, "orders");
  requireText(`field of ${what}`, field, "value");
  if (lengthMax !== undefined) requireWhole(`lengthMax of ${what}`, lengthMax, 1);
  const connecting = readConnection(what, options);
  const bound = lengthMax === undefined ? [] : ["MAXLEN", "~", lengthMax];
  return {
    kind: "redis-stream",
    open: async ({ timer }) => {
      const line = new RedisLine({ ...connecting, what: `${what} ${stream}`, timer });
      await line.ready().catch((error: unknown) => {
        line.close();
        throw error;
      });
      return new RedisStreamSink(line, [stream, ...bound, "*"], field);
    },
  };
}

class RedisStreamSink implements Sink {
  readonly #line: RedisLine;
  readonly #beginning: readonly Argument[];
  readonly #field: string;

  constructor(line: RedisLine, beginning: readonly Argument[], field: string) {
    this.#line = line;
    this.#beginning = beginning;
    this.#field = field;
  }

  async write(messages: readonly Message[]): Promise<readonly WriteResult[]> {
    const results: WriteResult[] = [];
    for (let at = 0; at < messages.length; at += TOGETHER_MAX) {
      const some = messages.slice(at, at + TOGETHER_MAX);
      results.push(...(await this.#add(some)));
    }
    return results;
  }

  close(): Promise<void> {
    this.#line.close();
    return Promise.resolve();
  }

  /** Messages before a lost connection may have been added: their results must not be lost with it. */
  async #add(messages: readonly Message[]): Promise<WriteResult[]> {
    const results: WriteResult[] = messages.map(() => undefined);
    const commands: [string, ...Argument[]][] = [];
    const places: number[] = [];
    for (const [place, message] of messages.entries()) {
      try {
        commands.push(["XADD", ...this.#beginning, ...fieldsOf(message, this.#field)]);
        places.push(place);
      } catch (thrown) {
        results[place] = unsendable(thrown);
      }
    }
    try {
      const replies = await this.#line.many(commands);
      for (const [at, place] of places.entries()) results[place] = resultOf(replies[at]);
    } catch (error) {
      for (const place of places) results[place] = resultOf(error);
    }
    return results;
  }
}

/** No reply is about the message itself: the server is full, loading or read-only, or the key has another type. */
function resultOf(reply: unknown): WriteResult {
  return reply instanceof Error ? { error: reply, isRetriable: true } : undefined;
}
