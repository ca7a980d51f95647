/** One of Pulsar's compressions, for a whole payload at once. */
export interface Codec {
  compress(bytes: Uint8Array): Uint8Array;
  /**
   * `uncompressedBytes` is the size that the sender claims, bounded by the caller. Never produces
   * more; any other size is a `ProtocolError`.
   */
  decompress(bytes: Uint8Array, uncompressedBytes: number): Uint8Array;
}
