/** What bytes are held for. */
export type ByteUse = "partial-frame" | "publish" | "read-ahead" | "outbound";

/**
 * The bytes that all connections and subscriptions of one process hold, counted when they arrive.
 * While it is exhausted nothing more is read for SENDs and nothing is read ahead; control commands are served.
 */
export interface ByteBudget {
  readonly bytes: number;
  readonly bytesMax: number;
  readonly isExhausted: boolean;
  bytesOf(use: ByteUse): number;
  reserve(use: ByteUse, bytes: number): void;
  release(use: ByteUse, bytes: number): void;
  /** Called once when the budget has room again; answers how to stop waiting. */
  whenFree(listener: () => void): () => void;
}
