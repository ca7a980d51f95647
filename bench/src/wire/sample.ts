import { encodeSendFrame } from "@sluice/pulsar/wire";
import type { MessageMetadata } from "@sluice/pulsar/wire";

const PAYLOAD_BYTES = 1024;

/** As many as one read of a socket brings: 64 KiB. */
const FRAMES_PER_CHUNK = 60;

const PRODUCERS = 16;

export const payload: Buffer = Buffer.alloc(PAYLOAD_BYTES, "sluice");

/** What the producers of our users send: a key and a property. */
export function metadataOf(sequence: number): MessageMetadata {
  return {
    producerName: "standalone-0-17",
    sequenceId: BigInt(sequence),
    publishTime: 1_794_787_200_000n,
    properties: [{ key: "tenant", value: "shop" }],
    partitionKey: "order-4711",
  };
}

/** Where frames are routed to. */
export class Route {
  frames = 0;
}

export function routes(): Map<bigint, Route> {
  return new Map(Array.from({ length: PRODUCERS }, (_, id) => [BigInt(id), new Route()]));
}

/** One chunk of whole frames by several producers. */
export const chunk: Buffer = Buffer.concat(
  Array.from({ length: FRAMES_PER_CHUNK }, (_, index) =>
    encodeSendFrame(
      {
        producerId: BigInt(index % PRODUCERS),
        sequenceId: BigInt(100_000 + index),
        numMessages: 1,
        highestSequenceId: BigInt(100_000 + index),
      },
      metadataOf(index),
      payload,
    ),
  ),
);
