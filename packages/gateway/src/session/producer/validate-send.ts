import { decodeMetadata, isIntact, ProtocolError, splitEntry } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { notAllowed } from "../../refusal/refusal.ts";
import type { Refusal } from "../../refusal/refusal.ts";
import type { SessionLimits } from "../limits.ts";

/** Why a SEND cannot be stored; undefined if it can. */
export function validateSend(
  send: CommandBodies["send"],
  bytes: Buffer,
  { messageBytesMax, batchMessagesMax }: SessionLimits,
): Refusal | undefined {
  const { numMessages = 1, txnidLeastBits, txnidMostBits } = send;
  if (txnidLeastBits !== undefined || txnidMostBits !== undefined)
    return notAllowed("transactions are not supported; send without one");
  if (numMessages < 1 || numMessages > batchMessagesMax)
    return notAllowed(`a SEND of ${numMessages} messages; send 1 to ${batchMessagesMax}`);
  try {
    const entry = splitEntry(bytes);
    // Clients that did not announce support for it fail on broker entry metadata (0x0e02).
    if (entry.brokerEntryMetadata !== undefined)
      return notAllowed("the entry begins with broker entry metadata, which only a broker may add");
    if (entry.payload.length > messageBytesMax)
      return notAllowed(
        `a payload of ${entry.payload.length} bytes; send at most ${messageBytesMax}, or in chunks`,
      );
    if (!isIntact(entry)) return { error: "ChecksumError", message: "the checksum is wrong" };
    // Permits are counted by the command, consumers count by the metadata.
    const { numMessagesInBatch = 1 } = decodeMetadata(entry);
    if (numMessagesInBatch === numMessages) return undefined;
    return notAllowed(`a SEND of ${numMessages} messages has ${numMessagesInBatch} in its entry`);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return notAllowed(error.message);
  }
}
