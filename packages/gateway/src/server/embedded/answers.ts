import { decodeMetadata, NO_ID, splitEntry, SUB_TYPE, TOPICS_MODE } from "@sluice/pulsar/wire";
import type { MessageIdData } from "@sluice/pulsar/wire";
import type { Broker } from "../../broker/broker.ts";
import { messageIdOf, startPointOf } from "../../broker/message-id.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import type { SchemaRegistry } from "../../schema/schema-registry.ts";
import type { Answer, Question, SeekTarget } from "../../session/request/question.ts";
import type { Position } from "../../storage/position.ts";
import type { ConsumerHandle, SeekPoint } from "../../topic/consumer/consumer-handle.ts";

/** The consumer that a question is about. */
export interface AskedConsumer {
  readonly handle: ConsumerHandle;
  readonly partition: number | undefined;
  readonly subType: number;
}

/**
 * What the broker answers; throws or rejects with a `RefusalError` if it refuses. What can be answered
 * at once is, so that a client's next request is read only when the answer is written.
 */
export function answerTo(
  question: Question,
  consumer: AskedConsumer | undefined,
  { broker, schemas }: { readonly broker: Broker; readonly schemas: SchemaRegistry },
): Answer | Promise<Answer> {
  const { about } = question;
  switch (about) {
    case "partitions":
      if (question.mustExist && !broker.hasTopic(question.topic))
        throw new RefusalError("TopicNotFound", "there is no such topic");
      return { about, count: broker.partitionsOf(question.topic) };
    case "topics": {
      return { about, names: broker.topicsOf(question.namespace, domainOf(question.mode)) };
    }
    case "schema":
      return schemas.get(question.topic, question.version).then((stored) => {
        if (stored !== undefined) return { about, ...stored };
        throw new RefusalError("TopicNotFound", "the topic has no such schema");
      });
    case "newSchema":
      return schemas.put(question.topic, question.schema).then((version) => ({
        about,
        version,
      }));
    case "consumerStats":
      return consumerStats(openOr(consumer));
    case "lastMessageId":
      return lastMessageId(openOr(consumer));
    case "seek":
      return openOr(consumer)
        .handle.seek(seekPointTo(question.target))
        .then(() => ({ about }));
    case "unsubscribe":
      return openOr(consumer)
        .handle.unsubscribe()
        .then(() => ({ about }));
  }
}

const TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [SUB_TYPE.exclusive, "Exclusive"],
  [SUB_TYPE.shared, "Shared"],
  [SUB_TYPE.failover, "Failover"],
  [SUB_TYPE.keyShared, "Key_Shared"],
]);

function consumerStats({ handle, subType }: AskedConsumer): Answer {
  const stats = handle.stats();
  if (stats === undefined) throw new RefusalError("ConsumerNotFound", "the consumer is closed");
  return {
    about: "consumerStats",
    stats: {
      consumerName: stats.name,
      type: TYPE_NAMES.get(subType),
      msgRateOut: stats.out.messagesPerSecond,
      msgThroughputOut: stats.out.bytesPerSecond,
      availablePermits: BigInt(Math.max(0, stats.availablePermits)),
      unackedMessages: BigInt(stats.unackedMessages),
      blockedConsumerOnUnackedMsgs: stats.isBlocked,
      address: stats.client?.address,
      msgBacklog: BigInt(handle.backlogEntries),
    },
  };
}

async function lastMessageId({ handle, partition }: AskedConsumer): Promise<Answer> {
  const entry = await handle.lastEntry();
  const batchIndex = entry === undefined ? undefined : lastBatchIndex(entry.bytes);
  const last = { ...idOf(entry?.position), partition, batchIndex };
  const markDelete = { ...idOf(handle.markDeletePosition()), partition };
  return { about: "lastMessageId", last, markDelete };
}

function openOr(consumer: AskedConsumer | undefined): AskedConsumer {
  if (consumer !== undefined) return consumer;
  throw new RefusalError("ConsumerNotFound", "the consumer is closed");
}

function domainOf(mode: number): "persistent" | "non-persistent" | undefined {
  if (mode === TOPICS_MODE.all) return undefined;
  return mode === TOPICS_MODE.nonPersistent ? "non-persistent" : "persistent";
}

function seekPointTo(target: SeekTarget): SeekPoint {
  if ("messageId" in target) return startPointOf(target.messageId);
  return { kind: "time", atMs: target.publishedAtMs };
}

/** Of the last message in a batch; nothing for an entry that is none. */
function lastBatchIndex(entry: Uint8Array): number | undefined {
  const { numMessagesInBatch } = decodeMetadata(splitEntry(Buffer.from(entry)));
  return numMessagesInBatch === undefined ? undefined : numMessagesInBatch - 1;
}

/** Pulsar has ids of -1 for what is not there. */
function idOf(position: Position | undefined): MessageIdData {
  return position === undefined ? { ledgerId: NO_ID, entryId: NO_ID } : messageIdOf(position);
}
