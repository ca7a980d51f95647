import type { JetStreamClient } from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import type { Message } from "../../message.ts";
import { requireFlag, requireOptions, requireText } from "../check-options.ts";
import { encode, unsendable } from "../format.ts";
import type { Sink, SinkConnector, WriteResult } from "../sink.ts";
import { loadNats, NATS_CONNECTION_KEYS, NatsLine, readNatsConnection } from "./nats-connection.ts";
import type { NatsConnectionOptions } from "./nats-connection.ts";
import { natsError } from "./nats-failure.ts";
import { writeHeaders } from "./nats-headers.ts";

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
      const { jetstream } = await loadNats(WHAT, () => import("@nats-io/jetstream"));
      const { headers } = await loadNats(WHAT, () => import("@nats-io/transport-node"));
      return new NatsSink({
        line,
        streams: jetstream(line.client, { timeout: connecting.timeoutMs }),
        headers,
        subject,
        idPrefix: deduplicate ? `${context.name}:` : undefined,
      });
    },
  };
}

interface NatsSinkParts {
  readonly line: NatsLine;
  readonly streams: JetStreamClient;
  readonly headers: () => MsgHdrs;
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
    for (let at = 0; at < messages.length; at += TOGETHER_MAX) {
      const some = messages.slice(at, at + TOGETHER_MAX);
      results.push(...(await Promise.all(some.map((message) => this.#publish(message)))));
    }
    return results;
  }

  close(): Promise<void> {
    return this.#parts.line.close();
  }

  async #publish(message: Message): Promise<WriteResult> {
    const { line, streams, headers, subject, idPrefix } = this.#parts;
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
    } catch (error) {
      return permanent(`a header cannot be sent: ${String(error)}`);
    }
    try {
      line.requireConnected();
      await streams.publish(subject, bytes, {
        headers: written,
        ...(idPrefix !== undefined && { msgID: idPrefix + message.id }),
      });
      return undefined;
    } catch (error) {
      return { error: natsError(`${WHAT} ${subject}`, error, subject), isRetriable: true };
    }
  }
}

function permanent(text: string): WriteResult {
  return { error: new Error(`${WHAT}: ${text}`), isRetriable: false };
}
