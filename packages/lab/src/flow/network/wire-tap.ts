/** Sees the bytes of one connection, and may keep some of the server's from the client. */
export interface WireTap {
  /** A write of the client: a whole frame, or a part of a large one. */
  onClientWrite(bytes: Buffer): void;
  /** Bytes that arrive at the client, in any pieces; answers the bytes that the client gets to see. */
  onServerBytes(bytes: Buffer): Buffer;
}
