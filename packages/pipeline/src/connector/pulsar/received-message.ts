import type { Message as PulsarMessage } from "@sluice/pulsar";
import type { Message } from "../../message.ts";

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** A message of a Pulsar topic as the pipeline sees it, with what its acknowledgement needs. */
export class ReceivedMessage implements Message<Buffer> {
  readonly id: string;
  readonly value: Buffer;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly eventTimeMs: number | undefined;
  readonly #origin: PulsarMessage;

  constructor(origin: PulsarMessage) {
    this.id = origin.messageId.toString();
    this.value = origin.data;
    this.key = origin.key;
    this.headers = headersOf(origin.properties);
    this.eventTimeMs = origin.eventTimeMs;
    this.#origin = origin;
  }

  /** The delivery that `message` stands for; undefined if it was not made here. */
  static originOf(message: object): PulsarMessage | undefined {
    return #origin in message ? message.#origin : undefined;
  }
}

/** Names of headers are lower case; most names of properties are. */
function headersOf(properties: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let isPlain = true;
  let isEmpty = true;
  for (const name in properties) {
    isEmpty = false;
    isPlain &&= name === name.toLowerCase();
  }
  if (isEmpty) return NO_HEADERS;
  if (isPlain) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
