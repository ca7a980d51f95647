/** What bytes are held for. */
export type ByteUse =
  /** Bytes that have arrived and are not yet a whole frame, or wait to be handed over. */
  | "partial-frame"
  /** SENDs that wait for a publish limit. */
  | "held"
  /** Entries that are being stored. */
  | "publish"
  /** Entries that were read for a subscription and are not yet sent. */
  | "read-ahead"
  /** What subscriptions remember of entries that consumers have, or that wait, by an estimate. */
  | "tracking"
  /** Bytes that were sent and that the client has not taken. */
  | "outbound"
  /** Producers, consumers and connections themselves, by an estimate. */
  | "clients";

/**
 * The bytes that all connections and subscriptions of one process hold, counted when they arrive. From free
 * to the bound they pass three marks:
 *
 * - `isCrowded`: new connections are refused.
 * - `isExhausted`: SENDs of connections that keep more than a little wait, and nothing is read ahead.
 * - `isFull`: connections that keep the most are closed, or nothing is read. What is left up to `bytesMax`
 *   is for what one turn of the event loop adds.
 */
export interface ByteBudget {
  readonly bytes: number;
  readonly bytesMax: number;
  readonly isExhausted: boolean;
  readonly isCrowded: boolean;
  readonly isFull: boolean;
  /** Bytes that are there because of what peers do or do not: begun frames, held SENDs, unread bytes. */
  readonly peerBytes: number;
  /**
   * Consumers that do not read must not keep producers from publishing: entries that were read ahead,
   * tracked or sent may take half of the budget. From there on nothing more is read ahead.
   */
  readonly isDeliveryExhausted: boolean;
  bytesOf(use: ByteUse): number;
  reserve(use: ByteUse, bytes: number): void;
  release(use: ByteUse, bytes: number): void;
  /**
   * Called once when there is room again, for SENDs or for deliveries; the listener looks which.
   * Answers how to stop waiting.
   */
  whenFree(listener: () => void): () => void;
}
