import { ProtocolError, deliverAtMsOf as readDeliverAtMs } from "@sluice/pulsar/wire";

/** When an entry may be delivered; undefined if at once, also for bytes that are no entry of Pulsar. */
export function deliverAtMsOf(bytes: Uint8Array): number | undefined {
  try {
    return readDeliverAtMs(bytes);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
