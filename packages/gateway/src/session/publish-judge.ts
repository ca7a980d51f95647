import { decodeMetadata, isIntact, ProtocolError, splitEntry } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import type { SessionLimits } from "./limits.ts";
import type { ReadGate } from "./read-gate.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Where every SEND is judged before it is accepted, and where what it costs is counted. An accepted
 * SEND is always published: whatever it exceeds stops the reading of the next one.
 */
export class PublishJudge {
  readonly #limits: SessionLimits;
  readonly #gate: ReadGate;
  #pendingSends = 0;
  #isThrottled = false;

  constructor(limits: SessionLimits, gate: ReadGate) {
    this.#limits = limits;
    this.#gate = gate;
  }

  /** SENDs that were accepted and have no receipt yet. */
  get pendingSends(): number {
    return this.#pendingSends;
  }

  /** Accepts a SEND, or says why not. */
  judge(send: CommandBodies["send"], entry: Buffer): Refusal | undefined {
    const refusal = this.#flaw(send, entry);
    if (refusal === undefined) this.#accept();
    return refusal;
  }

  /** An accepted SEND has been answered. */
  settle(): void {
    this.#pendingSends--;
    if (!this.#isThrottled || this.#pendingSends > this.#limits.pendingSendsMax / 2) return;
    this.#isThrottled = false;
    this.#gate.release("connection-pending");
  }

  #accept(): void {
    this.#pendingSends++;
    if (this.#isThrottled || this.#pendingSends < this.#limits.pendingSendsMax) return;
    this.#isThrottled = true;
    this.#gate.throttle("connection-pending");
  }

  #flaw(send: CommandBodies["send"], bytes: Buffer): Refusal | undefined {
    const { messageBytesMax, batchMessagesMax } = this.#limits;
    const { numMessages = 1, txnidLeastBits, txnidMostBits } = send;
    if (txnidLeastBits !== undefined || txnidMostBits !== undefined)
      return notAllowed("there are no transactions here");
    if (numMessages < 1 || numMessages > batchMessagesMax)
      return notAllowed(`a SEND of ${numMessages} messages; 1 to ${batchMessagesMax} are possible`);
    try {
      const entry = splitEntry(bytes);
      if (entry.payload.length > messageBytesMax)
        return notAllowed(`a payload of ${entry.payload.length} bytes, over ${messageBytesMax}`);
      if (!isIntact(entry)) return { error: "ChecksumError", message: "the checksum is wrong" };
      // Permits are counted by the command, consumers count by the metadata.
      const { numMessagesInBatch = 1 } = decodeMetadata(entry);
      if (numMessagesInBatch === numMessages) return undefined;
      return notAllowed(`a SEND of ${numMessages} messages brought ${numMessagesInBatch}`);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return notAllowed(error.message);
    }
  }
}

function notAllowed(message: string): Refusal {
  return { error: "NotAllowedError", message };
}
