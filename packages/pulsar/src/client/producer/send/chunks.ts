import { ConfigError } from "@sluice/core";
import type { MessageMetadata } from "../../../wire/definition/metadata.ts";

/** Bytes of the largest chunked message: `total_chunk_msg_size` is a signed 32-bit number. */
const TOTAL_BYTES_MAX = 2 ** 31 - 1;

/** One chunk of a message. */
export interface Chunk {
  readonly metadata: MessageMetadata;
  /** A view of the message's payload. */
  readonly payload: Uint8Array;
}

/** Splits a message into chunks of at most `chunkBytesMax` bytes. */
export function chunksOf(
  metadata: MessageMetadata,
  payload: Uint8Array,
  chunkBytesMax: number,
): readonly Chunk[] {
  if (payload.length > TOTAL_BYTES_MAX)
    throw new ConfigError(
      `a message of ${payload.length} bytes is too large; at most ${TOTAL_BYTES_MAX}, even in chunks`,
    );
  const count = Math.ceil(payload.length / chunkBytesMax);
  const common = {
    ...metadata,
    // As Pulsar's other clients build it: unique, and the same for a resend.
    uuid: `${metadata.producerName}-${metadata.sequenceId}`,
    numChunksFromMsg: count,
    totalChunkMsgSize: payload.length,
  };
  return Array.from({ length: count }, (_, chunkId) => ({
    metadata: { ...common, chunkId },
    payload: payload.subarray(chunkId * chunkBytesMax, (chunkId + 1) * chunkBytesMax),
  }));
}
