import { ProtocolError, deliverAtMsOf as readDeliverAtMs } from "@sluice/pulsar/wire";

/** When an entry may be delivered; undefined if at once, also for bytes that are no entry of Pulsar. */
export function deliverAtMsOf(bytes: Uint8Array): number | undefined {
  try {
    const { buffer, byteOffset, byteLength } = bytes;
    return readDeliverAtMs(
      Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength),
    );
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
