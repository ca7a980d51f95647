import {
  LOOKUP_RESULT,
  PARTITIONED_METADATA_RESULT,
  SERVER_ERROR,
  TOPICS_MODE,
} from "@sluice/pulsar/wire";
import type { Command, CommandBodies } from "@sluice/pulsar/wire";
import type { Consumers } from "./consumers.ts";
import type { Answer, Outbox, Question, SeekTarget } from "./effect.ts";
import type { SessionFacts } from "./handshake.ts";
import { refuse } from "./reply.ts";
import { plainText } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";

/** What a client asks for besides publishing and consuming. Each request is answered once. */
export class Requests {
  readonly #outbox: Outbox;
  readonly #consumers: Consumers;
  readonly #facts: SessionFacts;
  #open = 0;

  constructor(
    { outbox, consumers }: { readonly outbox: Outbox; readonly consumers: Consumers },
    facts: SessionFacts,
  ) {
    this.#outbox = outbox;
    this.#consumers = consumers;
    this.#facts = facts;
  }

  /** Every topic is here. */
  lookup({ requestId }: CommandBodies["lookup"]): void {
    const { serviceUrl, serviceUrlTls } = this.#facts;
    this.#outbox.send({
      kind: "lookupResponse",
      body: {
        requestId,
        brokerServiceUrl: serviceUrl,
        brokerServiceUrlTls: serviceUrlTls,
        response: LOOKUP_RESULT.connect,
        authoritative: true,
        proxyThroughServiceUrl: false,
      },
    });
  }

  partitions(request: CommandBodies["partitionedMetadata"]): void {
    const { requestId, topic, metadataAutoCreationEnabled = true } = request;
    this.#ask({ about: "partitions", requestId, topic, mustExist: !metadataAutoCreationEnabled });
  }

  topics(request: CommandBodies["getTopicsOfNamespace"]): void {
    const { requestId, namespace, mode = TOPICS_MODE.persistent } = request;
    this.#ask({ about: "topics", requestId, namespace, mode });
  }

  schema({ requestId, topic, schemaVersion }: CommandBodies["getSchema"]): void {
    const version = schemaVersion?.length === 0 ? undefined : schemaVersion;
    this.#ask({ about: "schema", requestId, topic, version });
  }

  newSchema({ requestId, topic, schema }: CommandBodies["getOrCreateSchema"]): void {
    this.#ask({ about: "newSchema", requestId, topic, schema });
  }

  lastMessageId({ consumerId, requestId }: CommandBodies["getLastMessageId"]): void {
    const consumer = this.#consumers.asked(consumerId, requestId);
    if (consumer !== undefined) this.#ask({ about: "lastMessageId", requestId, consumer });
  }

  unsubscribe({ consumerId, requestId }: CommandBodies["unsubscribe"]): void {
    const consumer = this.#consumers.asked(consumerId, requestId);
    if (consumer !== undefined) this.#ask({ about: "unsubscribe", requestId, consumer });
  }

  seek(request: CommandBodies["seek"]): void {
    const { consumerId, requestId } = request;
    const target = seekTargetOf(request);
    const consumer = this.#consumers.asked(consumerId, requestId);
    if (consumer === undefined) return;
    if (target === undefined)
      refuse(this.#outbox, requestId, { error: "MetadataError", message: "a SEEK to nowhere" });
    else this.#ask({ about: "seek", requestId, consumer, target });
  }

  /** That the consumer is there is all that we say of it. */
  consumerStats({ consumerId, requestId }: CommandBodies["consumerStats"]): void {
    if (this.#consumers.asked(consumerId, requestId) !== undefined)
      this.#outbox.send({ kind: "consumerStatsResponse", body: { requestId } });
  }

  answer({ requestId }: Question, answer: Answer): void {
    this.#open--;
    this.#outbox.send(replyOf(requestId, answer));
  }

  refuse(question: Question, refusal: Refusal): void {
    this.#open--;
    this.#tellRefused(question, refusal);
  }

  #ask(question: Question): void {
    if (this.#open >= this.#facts.limits.requestsMax) {
      const message = "too many requests wait for their answers";
      this.#tellRefused(question, { error: "TooManyRequests", message });
      return;
    }
    this.#open++;
    this.#outbox.add({ kind: "ask", question });
  }

  #tellRefused({ about, requestId }: Question, refusal: Refusal): void {
    const error = SERVER_ERROR[refusal.error];
    const message = plainText(refusal.message);
    switch (about) {
      case "partitions": {
        const response = PARTITIONED_METADATA_RESULT.failed;
        const body = { requestId, response, error, message };
        this.#outbox.send({ kind: "partitionedMetadataResponse", body });
        break;
      }
      case "schema": {
        const body = { requestId, errorCode: error, errorMessage: message };
        this.#outbox.send({ kind: "getSchemaResponse", body });
        break;
      }
      case "newSchema": {
        const body = { requestId, errorCode: error, errorMessage: message };
        this.#outbox.send({ kind: "getOrCreateSchemaResponse", body });
        break;
      }
      case "topics":
      case "lastMessageId":
      case "seek":
      case "unsubscribe":
        refuse(this.#outbox, requestId, refusal);
    }
  }
}

/** Where SEEK wants to go; undefined if it does not say. */
function seekTargetOf(seek: CommandBodies["seek"]): SeekTarget | undefined {
  const { messageId, messagePublishTime } = seek;
  if (messageId !== undefined) return { messageId };
  if (messagePublishTime === undefined) return undefined;
  return { publishedAtMs: Number(messagePublishTime) };
}

function replyOf(requestId: bigint, answer: Answer): Command {
  switch (answer.about) {
    case "partitions": {
      const response = PARTITIONED_METADATA_RESULT.success;
      const body = { requestId, partitions: answer.count, response };
      return { kind: "partitionedMetadataResponse", body };
    }
    case "topics": {
      const body = { requestId, topics: answer.names, filtered: false, changed: true };
      return { kind: "getTopicsOfNamespaceResponse", body };
    }
    case "lastMessageId": {
      const { last, markDelete } = answer;
      const body = { requestId, lastMessageId: last, consumerMarkDeletePosition: markDelete };
      return { kind: "getLastMessageIdResponse", body };
    }
    case "schema": {
      const { schema, version } = answer;
      return { kind: "getSchemaResponse", body: { requestId, schema, schemaVersion: version } };
    }
    case "newSchema": {
      const body = { requestId, schemaVersion: answer.version };
      return { kind: "getOrCreateSchemaResponse", body };
    }
    case "seek":
    case "unsubscribe":
      return { kind: "success", body: { requestId } };
  }
}
