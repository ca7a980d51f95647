import { ConfigError } from "@sluice/core";
import type { MessageMetadata } from "../../wire/definition/metadata.ts";

/** What the wire has for the size of a whole message. */
const TOTAL_BYTES_MAX = 2 ** 31 - 1;

/** One piece of a message that is larger than a broker takes. */
export interface Chunk {
  readonly metadata: MessageMetadata;
  /** A view. */
  readonly payload: Uint8Array;
}

/** Cuts a message into pieces of at most `chunkBytesMax`, which a consumer puts together again. */
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
    // The same as that of Pulsar's other clients: unique, and the same when it is sent again.
    uuid: `${metadata.producerName}-${metadata.sequenceId}`,
    numChunksFromMsg: count,
    totalChunkMsgSize: payload.length,
  };
  return Array.from({ length: count }, (_, chunkId) => ({
    metadata: { ...common, chunkId },
    payload: payload.subarray(chunkId * chunkBytesMax, (chunkId + 1) * chunkBytesMax),
  }));
}
