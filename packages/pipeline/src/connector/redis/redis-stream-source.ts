import { requireWhole } from "@sluice/core/internal";
import type { Message } from "../../message.ts";
import { requireFormat, requireOneOf, requireOptions, requireText } from "../check-options.ts";
import type { Format } from "../format.ts";
import type { OpenContext } from "../open-context.ts";
import type { ReadOptions, Source, SourceConnector } from "../source.ts";
import { pause } from "../wait-for-event.ts";
import { ClaimSchedule } from "./claim-schedule.ts";
import { messageOf } from "./entry.ts";
import { isGroupMissing } from "./redis-failure.ts";
import { RedisLine } from "./redis-line.ts";
import type { Argument } from "./redis-line.ts";
import { CONNECTION_KEYS, readConnection } from "./redis-options.ts";
import type { RedisConnecting, RedisConnectionOptions } from "./redis-options.ts";
import { backlogOf, claimOf, readEntriesOf } from "./reply.ts";
import type { Entry } from "./reply.ts";

export interface RedisStreamSourceOptions extends RedisConnectionOptions {
  /** The key of the stream. It is created, empty, if missing. */
  readonly stream: string;
  /** The consumer group, created if missing. Each message goes to one consumer of it. */
  readonly group: string;
  /** The name of this consumer, unique in the group. A stable name gets its unacknowledged messages again at once after a restart. Default: the vertex and a random part. */
  readonly consumer?: string | undefined;
  /** Where a group begins that is created. @default "beginning" */
  readonly from?: "beginning" | "end" | undefined;
  /** A message that a consumer has held for so long without a sign of life goes to another one, ms; 100 up to a day. @default 60000 */
  readonly claimIdleMs?: number | undefined;
  /** The field of the value; entries without it become an object of all their fields. @default "value" */
  readonly field?: string | undefined;
  /** How values are read. @default "json" */
  readonly format?: Format | undefined;
}

interface StreamSettings {
  readonly stream: string;
  readonly group: string;
  readonly consumer: string | undefined;
  readonly from: "beginning" | "end";
  readonly claimIdleMs: number;
  readonly field: string;
}

const WHAT = "redisStreamSource";
const KNOWN = [
  ...CONNECTION_KEYS,
  "stream",
  "group",
  "consumer",
  "from",
  "claimIdleMs",
  "field",
  "format",
];
const CLAIM_IDLE_MS = 60_000;
const CLAIM_IDLE_MIN_MS = 100;
const CLAIM_IDLE_MAX_MS = 86_400_000;
/** Ids in one command, at most: a server runs one command at a time. */
const IDS_MAX = 1000;
/** Pause between two attempts to end a wait on the server, ms. */
const UNBLOCK_MS = 20;

/**
 * Messages of a stream of Redis 6.2 or newer, or Valkey, as one consumer of a group. Messages that are in the
 * pipeline are renewed, so that no other consumer claims them; those of a consumer that has died are claimed
 * after `claimIdleMs`.
 *
 * @example
 * redisStreamSource({ url: "redis://localhost:6379", stream: "orders", group: "billing" });
 */
export function redisStreamSource(options: RedisStreamSourceOptions): SourceConnector<Buffer> {
  const example = `${WHAT}({ url: "redis://localhost:6379", stream: "orders", group: "billing" })`;
  requireOptions(WHAT, options, { known: KNOWN, example });
  const { stream, group, consumer, from = "beginning", claimIdleMs = CLAIM_IDLE_MS } = options;
  const { field = "value", format = "json" } = options;
  requireText(`stream of ${WHAT}`, stream, "orders");
  requireText(`group of ${WHAT}`, group, "billing");
  if (consumer !== undefined) requireText(`consumer of ${WHAT}`, consumer, "billing-1");
  requireOneOf(`from of ${WHAT}`, from, ["beginning", "end"]);
  requireWhole(`claimIdleMs of ${WHAT}`, claimIdleMs, CLAIM_IDLE_MIN_MS, CLAIM_IDLE_MAX_MS);
  requireText(`field of ${WHAT}`, field, "value");
  requireFormat(WHAT, format);
  const connecting = readConnection(WHAT, options);
  const settings = { stream, group, consumer, from, claimIdleMs, field };
  return {
    kind: "redis-stream",
    format,
    open: async (context) => {
      const source = new RedisStreamSource(settings, connecting, context);
      await source.begin();
      return source;
    },
  };
}

class RedisStreamSource implements Source<Buffer> {
  readonly #settings: StreamSettings;
  readonly #context: OpenContext;
  readonly #consumer: string;
  /** For reads that wait on the server; nothing else may be sent meanwhile. */
  readonly #reading: RedisLine;
  readonly #asking: RedisLine;
  /** Ids that were read and not acknowledged. */
  readonly #inFlight = new Set<string>();
  /** Those of them that are still this consumer's. */
  readonly #owned = new Set<string>();
  /** Ids that are acknowledged here and not yet on the server. */
  readonly #toAcknowledge = new Set<string>();
  readonly #claims: ClaimSchedule;
  readonly #closing = new AbortController();
  #renewing: Promise<void> | undefined;
  /** Own unacknowledged messages from this id on are read before new ones; undefined: there are none. */
  #pendingAfter: string | undefined = "0";
  /** The connection of `#reading` that `#pendingAfter` and `#clientId` are of. */
  #connection = 0;
  #clientId: string | undefined;

  constructor(settings: StreamSettings, connecting: RedisConnecting, context: OpenContext) {
    this.#settings = settings;
    this.#context = context;
    const { timer, random, name } = context;
    const part = Math.floor(random.next() * 2 ** 40).toString(36);
    this.#consumer = settings.consumer ?? `${name}-${part}`;
    const what = `${WHAT} ${settings.stream}`;
    this.#reading = new RedisLine({ ...connecting, what, timer });
    this.#asking = new RedisLine({ ...connecting, what, timer });
    this.#claims = new ClaimSchedule(settings.claimIdleMs, timer.now());
  }

  async begin(): Promise<void> {
    try {
      await this.#createGroup(this.#settings.from === "beginning" ? "0" : "$");
    } catch (error) {
      this.#reading.close();
      this.#asking.close();
      throw error;
    }
    this.#renewing = this.#renew();
  }

  async read(
    countMax: number,
    { signal, waitMs }: ReadOptions,
  ): Promise<readonly Message<Buffer>[]> {
    const { timer } = this.#context;
    const untilMs = timer.now() + waitMs;
    if (this.#toAcknowledge.size > 0) await this.#acknowledge();
    for (;;) {
      const leftMs = untilMs - timer.now();
      const entries = await this.#entries(countMax, leftMs, signal);
      const messages = this.#take(entries);
      if (messages.length > 0) return messages;
      // Entries without a message were deleted, or are in the pipeline: others may follow at once.
      if (signal.aborted || (entries.length === 0 && untilMs - timer.now() <= 0)) return [];
    }
  }

  async ack(messages: readonly Message<Buffer>[]): Promise<void> {
    for (const { id } of messages) {
      this.#owned.delete(id);
      if (this.#inFlight.delete(id)) this.#toAcknowledge.add(id);
    }
    await this.#acknowledge();
  }

  async nack(messages: readonly Message<Buffer>[]): Promise<void> {
    const ids = messages.map(({ id }) => id).filter((id) => this.#inFlight.delete(id));
    for (const id of ids) this.#owned.delete(id);
    await this.#giveBack(ids);
    this.#claims.hurry(this.#context.timer.now());
  }

  async backlog(): Promise<number | undefined> {
    const { stream, group } = this.#settings;
    const groups = await this.#asking.call(["XINFO", "GROUPS", stream]);
    return backlogOf(groups, group, () => this.#asking.call(["XLEN", stream]));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
    try {
      if (this.#toAcknowledge.size > 0) await this.#acknowledge();
      await this.#giveBack([...this.#inFlight]);
      if (this.#settings.consumer === undefined) await this.#removeConsumer();
    } catch {
      // The server has gone: what is left there another consumer claims.
    }
    this.#reading.close();
    this.#asking.close();
  }

  /** Own pending messages first, then those of dead consumers if it is time, then new ones. */
  async #entries(countMax: number, leftMs: number, signal: AbortSignal): Promise<readonly Entry[]> {
    await this.#noticeConnection();
    const { stream, group } = this.#settings;
    const beginning = ["XREADGROUP", "GROUP", group, this.#consumer, "COUNT", countMax] as const;
    if (this.#pendingAfter !== undefined) {
      const after = this.#pendingAfter;
      const pending = readEntriesOf(
        await this.#healed(this.#reading, [...beginning, "STREAMS", stream, after]),
      );
      this.#pendingAfter = pending.at(-1)?.id;
      if (pending.length > 0) return pending;
    }
    const nowMs = this.#context.timer.now();
    if (this.#claims.isDue(nowMs)) {
      const claimed = await this.#claim(countMax);
      if (claimed.length > 0) return claimed;
    }
    const blockMs = Math.floor(Math.min(leftMs, this.#claims.inMs(this.#context.timer.now())));
    // BLOCK 0 would wait for ever.
    const block = blockMs >= 1 && !signal.aborted ? ["BLOCK", blockMs] : [];
    const command = [...beginning, ...block, "STREAMS", stream, ">"] as const;
    const waitMs = block.length > 0 ? blockMs : 0;
    return readEntriesOf(
      await this.#unblockedBy(signal, this.#healed(this.#reading, command, waitMs)),
    );
  }

  /** After a lost connection, messages may be ours whose reply never came. */
  async #noticeConnection(): Promise<void> {
    await this.#reading.ready();
    if (this.#connection === this.#reading.connections) return;
    if (this.#connection > 0)
      this.#context.tell({ level: "info", text: `${this.#settings.stream}: connected again` });
    this.#connection = this.#reading.connections;
    this.#pendingAfter = "0";
    this.#clientId = await this.#reading.call(["CLIENT", "ID"]).then(
      (id) => String(id),
      // A user without the right to CLIENT: an aborted read ends with its wait.
      () => undefined,
    );
  }

  async #claim(countMax: number): Promise<readonly Entry[]> {
    const { stream, group, claimIdleMs } = this.#settings;
    const { cursor } = this.#claims;
    const claim = ["XAUTOCLAIM", stream, group, this.#consumer, claimIdleMs, cursor] as const;
    const reply = await this.#healed(this.#asking, [...claim, "COUNT", countMax]);
    const { cursor: next, entries } = claimOf(reply);
    this.#claims.claimed(next, this.#context.timer.now());
    return entries;
  }

  #take(entries: readonly Entry[]): Message<Buffer>[] {
    const messages: Message<Buffer>[] = [];
    for (const { id, fields } of entries) {
      if (this.#toAcknowledge.has(id)) continue;
      if (fields === undefined) {
        // Removed from the stream while it was pending.
        this.#toAcknowledge.add(id);
        continue;
      }
      this.#owned.add(id);
      if (this.#inFlight.has(id)) continue;
      this.#inFlight.add(id);
      messages.push(messageOf(id, fields, this.#settings.field));
    }
    return messages;
  }

  async #acknowledge(): Promise<void> {
    const { stream, group } = this.#settings;
    const ids = [...this.#toAcknowledge];
    for (const some of inGroups(ids)) {
      await this.#asking.call(["XACK", stream, group, ...some]);
      for (const id of some) this.#toAcknowledge.delete(id);
    }
  }

  /** Resets the idle time of messages in the pipeline, three times within `claimIdleMs`. */
  async #renew(): Promise<void> {
    const { timer } = this.#context;
    const { claimIdleMs } = this.#settings;
    const { signal } = this.#closing;
    let renewedMs = timer.now();
    for (;;) {
      await pause(timer, claimIdleMs / 3, signal);
      if (signal.aborted) return;
      // This process stood still, or the server was away, for so long that others may own them by now.
      if (timer.now() - renewedMs >= claimIdleMs) this.#owned.clear();
      try {
        await this.#claimOwn([...this.#owned], []);
        renewedMs = timer.now();
      } catch {
        // The next read tells of a server that cannot be reached.
      }
    }
  }

  /** Makes messages look idle for long enough, so that any consumer claims them at its next turn. */
  #giveBack(ids: readonly string[]): Promise<void> {
    return this.#claimOwn(ids, ["IDLE", this.#settings.claimIdleMs]);
  }

  async #claimOwn(ids: readonly string[], options: readonly Argument[]): Promise<void> {
    const { stream, group } = this.#settings;
    for (const some of inGroups(ids))
      await this.#asking.call([
        "XCLAIM",
        stream,
        group,
        this.#consumer,
        0,
        ...some,
        ...options,
        "JUSTID",
      ]);
  }

  /** Creates the group anew, and asks again, if it has gone with the data of the server. */
  async #healed(
    line: RedisLine,
    command: readonly [string, ...Argument[]],
    waitMs: number = 0,
  ): Promise<unknown> {
    try {
      return await line.call(command, waitMs);
    } catch (error) {
      if (!isGroupMissing(error)) throw error;
    }
    const { stream, group } = this.#settings;
    const text = `${stream}: the group ${group} has gone, as after FLUSHALL; it is created again and begins with the first message`;
    this.#context.tell({ level: "warning", text });
    await this.#createGroup("0");
    return line.call(command, waitMs);
  }

  async #createGroup(from: "0" | "$"): Promise<void> {
    const { stream, group } = this.#settings;
    try {
      await this.#asking.call(["XGROUP", "CREATE", stream, group, from, "MKSTREAM"]);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("BUSYGROUP")) throw error;
    }
  }

  /** Ends the wait on the server when the signal aborts. */
  async #unblockedBy(signal: AbortSignal, reply: Promise<unknown>): Promise<unknown> {
    const settled = new AbortController();
    const unblock = async (): Promise<void> => {
      // The command may reach the server before the read does.
      while (!settled.signal.aborted && this.#clientId !== undefined) {
        await this.#asking.call(["CLIENT", "UNBLOCK", this.#clientId]).catch(() => undefined);
        await pause(this.#context.timer, UNBLOCK_MS, settled.signal);
      }
    };
    const onAbort = (): void => void unblock();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await reply;
    } finally {
      settled.abort();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** A name that nobody will use again. With pending messages it stays, since they would go with it. */
  async #removeConsumer(): Promise<void> {
    const { stream, group } = this.#settings;
    const consumer = this.#consumer;
    const pending = await this.#asking.call(["XPENDING", stream, group, "-", "+", 1, consumer]);
    if (Array.isArray(pending) && pending.length === 0)
      await this.#asking.call(["XGROUP", "DELCONSUMER", stream, group, consumer]);
  }
}

function* inGroups(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += IDS_MAX) yield ids.slice(at, at + IDS_MAX);
}
