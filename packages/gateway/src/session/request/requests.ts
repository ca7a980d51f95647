import {
  LOOKUP_RESULT,
  PARTITIONED_METADATA_RESULT,
  SERVER_ERROR,
  TOPICS_MODE,
} from "@sluice/pulsar/wire";
import type { Command, CommandBodies } from "@sluice/pulsar/wire";
import type { Action } from "../../auth/permissions.ts";
import { plainText } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import type { Consumers } from "../consumer/consumers.ts";
import type { Answer, Question, SeekTarget } from "./question.ts";
import { refuse } from "./reply.ts";
import type { SessionContext } from "../session-context.ts";

/** What a client asks for besides publishing and consuming. Each request is answered once. */
export class Requests {
  readonly #context: SessionContext;
  #open = 0;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Every topic is on this broker. */
  lookup({ requestId, topic, advertisedListenerName = "" }: CommandBodies["lookup"]): void {
    const { serviceUrl, serviceUrlTls } = this.#context.facts;
    const refusal =
      this.#context.denies("lookup", topic) ?? unknownListener(advertisedListenerName);
    const error = refusal && SERVER_ERROR[refusal.error];
    this.#outbox.send({
      kind: "lookupResponse",
      body:
        refusal === undefined
          ? {
              requestId,
              brokerServiceUrl: serviceUrl,
              brokerServiceUrlTls: serviceUrlTls,
              response: LOOKUP_RESULT.connect,
              authoritative: true,
              proxyThroughServiceUrl: false,
            }
          : { requestId, response: LOOKUP_RESULT.failed, error, message: refusal.message },
    });
  }

  partitions(request: CommandBodies["partitionedMetadata"]): void {
    const { requestId, topic, metadataAutoCreationEnabled = true } = request;
    const mustExist = !metadataAutoCreationEnabled;
    this.#askAbout("lookup", { about: "partitions", requestId, topic, mustExist });
  }

  /** Topics that the role has no right to are left out of the answer. */
  topics(request: CommandBodies["getTopicsOfNamespace"]): void {
    const { requestId, namespace, mode = TOPICS_MODE.persistent } = request;
    this.#ask({ about: "topics", requestId, namespace, mode });
  }

  schema({ requestId, topic, schemaVersion }: CommandBodies["getSchema"]): void {
    const version = schemaVersion?.length === 0 ? undefined : schemaVersion;
    this.#askAbout("lookup", { about: "schema", requestId, topic, version });
  }

  newSchema({ requestId, topic, schema }: CommandBodies["getOrCreateSchema"]): void {
    this.#askAbout("produce", { about: "newSchema", requestId, topic, schema });
  }

  /** The consumer was allowed to subscribe, so that it may unsubscribe, seek and look too. */
  ofConsumer(
    about: "lastMessageId" | "unsubscribe" | "consumerStats",
    consumers: Consumers,
    { consumerId, requestId }: CommandBodies["unsubscribe"],
  ): void {
    const consumer = consumers.asked(consumerId, requestId);
    if (consumer !== undefined) this.#ask({ about, requestId, consumer });
  }

  seek(consumers: Consumers, request: CommandBodies["seek"]): void {
    const { consumerId, requestId } = request;
    const target = seekTargetOf(request);
    const consumer = consumers.asked(consumerId, requestId);
    if (consumer === undefined) return;
    if (target !== undefined) this.#ask({ about: "seek", requestId, consumer, target });
    else {
      const message = "SEEK names neither a message nor a time";
      refuse(this.#outbox, requestId, { error: "MetadataError", message });
    }
  }

  answer({ requestId }: Question, answer: Answer): void {
    this.#settle();
    this.#outbox.send(this.#replyTo(requestId, answer));
  }

  refuse(question: Question, refusal: Refusal): void {
    this.#settle();
    this.#tellRefused(question, refusal);
  }

  get #outbox(): SessionContext["outbox"] {
    return this.#context.outbox;
  }

  #askAbout(action: Action, question: Extract<Question, { readonly topic: string }>): void {
    const refusal = this.#context.denies(action, question.topic);
    if (refusal === undefined) this.#ask(question);
    else this.#tellRefused(question, refusal);
  }

  #ask(question: Question): void {
    this.#open++;
    if (this.#open === this.#context.facts.limits.requestsMax) this.#context.gate.block("requests");
    this.#outbox.add({ kind: "ask", question });
  }

  #settle(): void {
    this.#open--;
    if (this.#open === this.#context.facts.limits.requestsMax >> 1)
      this.#context.gate.unblock("requests");
  }

  #tellRefused({ about, requestId }: Question, refusal: Refusal): void {
    const error = SERVER_ERROR[refusal.error];
    const message = plainText(refusal.message);
    const body = { requestId, errorCode: error, errorMessage: message };
    switch (about) {
      case "partitions":
        this.#outbox.send({
          kind: "partitionedMetadataResponse",
          body: { requestId, response: PARTITIONED_METADATA_RESULT.failed, error, message },
        });
        break;
      case "schema":
        this.#outbox.send({ kind: "getSchemaResponse", body });
        break;
      case "newSchema":
        this.#outbox.send({ kind: "getOrCreateSchemaResponse", body });
        break;
      case "consumerStats":
        this.#outbox.send({ kind: "consumerStatsResponse", body });
        break;
      case "topics":
      case "lastMessageId":
      case "seek":
      case "unsubscribe":
        refuse(this.#outbox, requestId, refusal);
    }
  }

  #replyTo(requestId: bigint, answer: Answer): Command {
    switch (answer.about) {
      case "partitions": {
        const response = PARTITIONED_METADATA_RESULT.success;
        const body = { requestId, partitions: answer.count, response };
        return { kind: "partitionedMetadataResponse", body };
      }
      case "topics": {
        const topics = this.#context.visible(answer.names);
        const body = { requestId, topics, filtered: false, changed: true };
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
      case "consumerStats":
        return { kind: "consumerStatsResponse", body: { requestId, ...answer.stats } };
      case "seek":
      case "unsubscribe":
        return { kind: "success", body: { requestId } };
    }
  }
}

/** Where SEEK goes; undefined if it does not say. */
function seekTargetOf(seek: CommandBodies["seek"]): SeekTarget | undefined {
  const { messageId, messagePublishTime } = seek;
  if (messageId !== undefined) return { messageId };
  if (messagePublishTime === undefined) return undefined;
  return { publishedAtMs: Number(messagePublishTime) };
}

/** Addresses have no names here, so that a client that wants one would be sent to another than it means. */
function unknownListener(name: string): Refusal | undefined {
  if (name === "") return undefined;
  const message = `there is no listener ${plainText(name)}; connect without a listener name`;
  return { error: "MetadataError", message };
}
