import type { MessageIdData } from "@sluice/pulsar/wire";
import { positionOf } from "../../broker/message-id.ts";
import type { Ack, AckSet } from "../../subscription/delivery.ts";

/** Acknowledgements of a decoded ACK or REDELIVER. */
export function ackOf(id: MessageIdData): Ack {
  return { position: positionOf(id), ackSet: ackSetOf(id) };
}

/**
 * The ids of an ACK or REDELIVER that waits to be done, 16 bytes each. As objects they would take 85
 * bytes and outlive young garbage.
 */
export class PackedAcks {
  readonly length: number;
  readonly #ledgerIds: Float64Array;
  readonly #entryIds: Float64Array;
  /** By index; few have one. */
  readonly #ackSets = new Map<number, AckSet>();

  private constructor(ids: readonly MessageIdData[]) {
    this.length = ids.length;
    this.#ledgerIds = new Float64Array(ids.length);
    this.#entryIds = new Float64Array(ids.length);
    for (const [index, id] of ids.entries()) {
      const { ledgerId, entryId } = positionOf(id);
      this.#ledgerIds[index] = ledgerId;
      this.#entryIds[index] = entryId;
      const ackSet = ackSetOf(id);
      if (ackSet !== undefined) this.#ackSets.set(index, ackSet);
    }
  }

  /**
   * Takes the ids over and empties their list. V8 moves a list of 10,000 to the old generation, where
   * it keeps all its ids, though nothing needs it, until a full collection: under a flood of ACKs the
   * process grew by 400 MiB, with an emptied list by 80.
   */
  static taking(ids: readonly MessageIdData[]): PackedAcks {
    const packed = new PackedAcks(ids);
    (ids as MessageIdData[]).length = 0;
    return packed;
  }

  /** Those from `start` on, before `end`. */
  slice(start: number, end: number): readonly Ack[] {
    const acks: Ack[] = [];
    for (let index = start; index < Math.min(end, this.length); index++) {
      const ledgerId = this.#ledgerIds[index] ?? 0;
      const entryId = this.#entryIds[index] ?? 0;
      acks.push({ position: { ledgerId, entryId }, ackSet: this.#ackSets.get(index) });
    }
    return acks;
  }
}

function ackSetOf({ ackSet }: MessageIdData): AckSet | undefined {
  return ackSet !== undefined && ackSet.length > 0 ? ackSet : undefined;
}
