import { decodeMetadata, NO_ID, splitEntry, TOPICS_MODE } from "@sluice/pulsar/wire";
import type { MessageIdData } from "@sluice/pulsar/wire";
import { messageIdOf, startPointOf } from "../broker/message-id.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import type { Answer, Question, SeekTarget } from "../session/effect.ts";
import type { Position } from "../storage/position.ts";
import type { ConsumerHandle, SeekPoint } from "../topic/consumer-handle.ts";
import type { BrokerSide } from "./broker-link.ts";

/** What the broker has to say; rejects with a `RefusalError` if it will not. */
export async function answerTo(
  question: Question,
  handle: ConsumerHandle | undefined,
  { broker, schemas }: BrokerSide,
): Promise<Answer> {
  const { about } = question;
  switch (about) {
    case "partitions":
      if (question.mustExist && !broker.hasTopic(question.topic))
        throw new RefusalError("TopicNotFound", "there is no such topic");
      return { about, count: broker.partitionsOf(question.topic) };
    case "topics": {
      return { about, names: broker.topicsOf(question.namespace, domainOf(question.mode)) };
    }
    case "schema": {
      const stored = schemas.get(question.topic, question.version);
      if (stored !== undefined) return { about, ...stored };
      throw new RefusalError("TopicNotFound", "the topic has no such schema");
    }
    case "newSchema":
      return { about, version: schemas.put(question.topic, question.schema) };
    case "lastMessageId": {
      const { partition } = question.consumer;
      const entry = await openOr(handle).lastEntry();
      const batchIndex = entry === undefined ? undefined : lastBatchIndex(entry.bytes);
      const last = { ...idOf(entry?.position), partition, batchIndex };
      const markDelete = { ...idOf(openOr(handle).markDeletePosition()), partition };
      return { about, last, markDelete };
    }
    case "seek":
      await openOr(handle).seek(seekPointTo(question.target));
      return { about };
    case "unsubscribe":
      await openOr(handle).unsubscribe();
      return { about };
  }
}

function openOr(handle: ConsumerHandle | undefined): ConsumerHandle {
  if (handle !== undefined) return handle;
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
