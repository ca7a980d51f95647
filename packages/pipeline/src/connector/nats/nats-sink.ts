import type { Timer } from "@sluice/core";
import type { MsgHdrs } from "@nats-io/transport-node";
import type { Message } from "../../message.ts";
import { requireFlag, requireOptions, requireText } from "../check-options.ts";
import { encode, unsendable } from "../format.ts";
import type { Sink, SinkConnector, WriteResult } from "../sink.ts";
import { loadNats, NATS_CONNECTION_KEYS, NatsLine, readNatsConnection } from "./nats-connection.ts";
import type { NatsConnectionOptions } from "./nats-connection.ts";
import { natsError } from "./nats-failure.ts";
import { MESSAGE_ID, writeHeaders } from "./nats-headers.ts";
import { PublishedMessages } from "./published-messages.ts";

export interface NatsSinkOptions extends NatsConnectionOptions {
  /** The subject to publish to; a stream must take it. */
  readonly subject: string;
  /** Sends the message's id, by which the stream leaves out what it already has (`duplicate_window`). @default true */
  readonly deduplicate?: boolean | undefined;
}

const WHAT = "natsSink";
/** Messages without a confirmation at once. Raised, a slow stream holds more memory here and may time out. */
const TOGETHER_MAX = 500;

/**
 * Publishes messages to a JetStream stream and waits until the stream has them.
 *
 * @example
 * natsSink({ servers: "nats://localhost:4222", subject: "orders.done" });
 */
export function natsSink(options: NatsSinkOptions): SinkConnector {
  const known = [...NATS_CONNECTION_KEYS, "subject", "deduplicate"];
  const example = `${WHAT}({ servers: "nats://localhost:4222", subject: "orders.done" })`;
  requireOptions(WHAT, options, { known, example });
  const { subject, deduplicate = true } = options;
  requireText(`subject of ${WHAT}`, subject, "orders.done");
  requireFlag(`deduplicate of ${WHAT}`, deduplicate);
  const connecting = readNatsConnection(WHAT, options);
  return {
    kind: "nats",
    open: async (context) => {
      const what = `${WHAT} ${subject}`;
      const line = await NatsLine.open(what, connecting, context);
      const library = await loadNats(WHAT, () => import("@nats-io/transport-node"));
      const { timeoutMs, options: connection } = connecting;
      const inbox = library.createInbox(connection.inboxPrefix);
      return new NatsSink({
        line,
        published: new PublishedMessages(line, subject, inbox),
        headers: library.headers,
        timer: context.timer,
        timeoutMs,
        subject,
        idPrefix: deduplicate ? `${context.name}:` : undefined,
      });
    },
  };
}

interface NatsSinkParts {
  readonly line: NatsLine;
  readonly published: PublishedMessages;
  readonly headers: () => MsgHdrs;
  readonly timer: Timer;
  /** For the confirmation of a message, ms. */
  readonly timeoutMs: number;
  readonly subject: string;
  /** Ids are unique within one source only, so the name of the vertex comes before them. */
  readonly idPrefix: string | undefined;
}

class NatsSink implements Sink {
  readonly #parts: NatsSinkParts;

  constructor(parts: NatsSinkParts) {
    this.#parts = parts;
  }

  async write(messages: readonly Message[]): Promise<readonly WriteResult[]> {
    const results: WriteResult[] = [];
    for (let at = 0; at < messages.length; at += TOGETHER_MAX)
      results.push(...(await this.#writeTogether(messages.slice(at, at + TOGETHER_MAX))));
    return results;
  }

  close(): Promise<void> {
    return this.#parts.line.close();
  }

  /** One timeout for all. */
  async #writeTogether(messages: readonly Message[]): Promise<readonly WriteResult[]> {
    const { published, timer, timeoutMs } = this.#parts;
    const answered = new AbortController();
    const first = published.next;
    const results = Promise.all(messages.map((message) => this.#publish(message)));
    const end = published.next;
    timer.sleep(timeoutMs, answered.signal).then(
      () => published.giveUp(first, end, new Error(`no answer within ${timeoutMs} ms`)),
      () => undefined,
    );
    try {
      return await results;
    } finally {
      answered.abort();
    }
  }

  async #publish(message: Message): Promise<WriteResult> {
    const { line, published, headers, subject, idPrefix } = this.#parts;
    let bytes: Buffer;
    try {
      bytes = encode(message.value);
    } catch (thrown) {
      return unsendable(thrown);
    }
    const sizeMax = line.client.info?.max_payload ?? Number.MAX_SAFE_INTEGER;
    if (bytes.length > sizeMax)
      return permanent(
        `the value has ${bytes.length} bytes; the server takes ${sizeMax} (max_payload)`,
      );
    let written: MsgHdrs;
    try {
      written = writeHeaders(headers(), message);
      if (idPrefix !== undefined) written.set(MESSAGE_ID, idPrefix + message.id);
    } catch (error) {
      return permanent(`a header cannot be sent: ${String(error)}`);
    }
    try {
      line.requireConnected();
      await published.publish(bytes, written);
      return undefined;
    } catch (error) {
      return { error: natsError(`${WHAT} ${subject}`, error, subject), isRetriable: true };
    }
  }
}

function permanent(text: string): WriteResult {
  return { error: new Error(`${WHAT}: ${text}`), isRetriable: false };
}
