import { ProtocolError, decodeMetadata, murmur3, splitEntry } from "@sluice/pulsar/wire";
import { KEY_HASHES } from "../../subscription/dispatch/key-shared/key-assignment.ts";
import type { KeyHashes } from "../../subscription/dispatch/key-shared/key-shared-dispatcher.ts";

/** Hashes of keys as Pulsar has them: Murmur3 of the ordering key, else of the partition key. */
export const keyHashes: KeyHashes = {
  hashOfEntry: (bytes) => hashOf(keyOf(bytes)),
  hashOfText: (text) => hashOf(Buffer.from(text)),
};

function hashOf(key: Uint8Array): number {
  return (murmur3(key) & 0x7fff_ffff) % KEY_HASHES;
}

/** Entries without a key are spread by producer and sequence id, as in Pulsar 4. */
function keyOf(bytes: Uint8Array): Uint8Array {
  try {
    const { buffer, byteOffset, byteLength } = bytes;
    const metadata = decodeMetadata(splitEntry(Buffer.from(buffer, byteOffset, byteLength)));
    const { orderingKey, partitionKey, partitionKeyB64Encoded, producerName } = metadata;
    if (orderingKey !== undefined) return orderingKey;
    if (partitionKey === undefined) return Buffer.from(`${producerName}-${metadata.sequenceId}`);
    return Buffer.from(partitionKey, partitionKeyB64Encoded === true ? "base64" : "utf8");
  } catch (error) {
    if (error instanceof ProtocolError) return bytes;
    throw error;
  }
}
