import type { TopicName } from "../name/topic-name.ts";
import type { StoredTopic } from "../storage/store/broker-store.ts";
import { Deduplication } from "./producer/deduplication.ts";
import {
  SEQUENCE_IDS_NAME,
  TERMINATED_NAME,
  TOPIC_EPOCH_NAME,
  decodeTopicEpoch,
} from "./topic-marks.ts";
import type { TopicSurroundings } from "./topic.ts";

/** Names of documents that are stored beside the cursors and are not cursors. */
const MARKS: ReadonlySet<string> = new Set([TOPIC_EPOCH_NAME, TERMINATED_NAME, SEQUENCE_IDS_NAME]);

/** What a topic was when it was stored. */
export interface FormerTopic {
  readonly topicEpoch: bigint;
  readonly isTerminated: boolean;
  readonly deduplication: Deduplication;
}

interface WithCursors extends FormerTopic {
  /** By subscription, encoded. */
  readonly cursors: ReadonlyMap<string, Uint8Array>;
  /** Subscriptions whose cursor is damaged. */
  readonly damagedCursors: readonly string[];
}

/** Reads the stored documents of a topic. Rejects with a `StorageError` if its epoch is damaged. */
export async function readFormer(
  name: TopicName,
  stored: StoredTopic,
  { nextTurn, policies }: TopicSurroundings,
): Promise<WithCursors> {
  const { documents, damaged } = await stored.cursors.load();
  const cursors = new Map(documents);
  // Without its epoch a topic could let a fenced producer back in.
  const epochDamage = damaged.get(TOPIC_EPOCH_NAME);
  if (epochDamage !== undefined) throw epochDamage;
  const topicEpoch = decodeTopicEpoch(cursors.get(TOPIC_EPOCH_NAME));
  const isTerminated = cursors.has(TERMINATED_NAME) || damaged.has(TERMINATED_NAME);
  const sequenceIds = damaged.has(SEQUENCE_IDS_NAME) ? "damaged" : cursors.get(SEQUENCE_IDS_NAME);
  for (const mark of MARKS) cursors.delete(mark);
  const deduplication = await Deduplication.open(sequenceIds, {
    log: stored.log,
    documents: stored.cursors,
    nextTurn,
    isWanted: () => policies.of(name).deduplication ?? false,
  });
  const damagedCursors = [...damaged.keys()].filter((document) => !MARKS.has(document));
  return { topicEpoch, isTerminated, deduplication, cursors, damagedCursors };
}
