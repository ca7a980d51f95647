import { StorageError } from "../storage/storage-error.ts";

/** Kept among the cursors. No subscription has these names: theirs have no control characters. */
export const TOPIC_EPOCH_NAME = "\u0000topic-epoch";
export const SEQUENCE_IDS_NAME = "\u0000sequence-ids";
export const TERMINATED_NAME = "\u0000terminated";

/** The mark says it all by being there; a cursor store keeps no empty value. */
export const TERMINATED_MARK: Uint8Array = new Uint8Array([1]);

const EPOCH_BYTES = 8;

export function encodeTopicEpoch(epoch: bigint): Buffer {
  const bytes = Buffer.alloc(EPOCH_BYTES);
  bytes.writeBigUInt64BE(epoch);
  return bytes;
}

/** Of a topic that never had an exclusive producer: 0. */
export function decodeTopicEpoch(bytes: Uint8Array | undefined): bigint {
  if (bytes === undefined) return 0n;
  if (bytes.length !== EPOCH_BYTES)
    throw new StorageError("damaged", `a topic's epoch has ${bytes.length} bytes`);
  return Buffer.from(bytes).readBigUInt64BE();
}
