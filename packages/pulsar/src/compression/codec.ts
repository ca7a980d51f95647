/** One of Pulsar's compressions, of a whole payload at once. */
export interface Codec {
  compress(bytes: Uint8Array): Uint8Array;
  /**
   * `uncompressedBytes` is what the sender says comes out; the caller has bounded it. No more than
   * that is ever made, and anything that does not come out at exactly that size is a
   * `ProtocolError`.
   */
  decompress(bytes: Uint8Array, uncompressedBytes: number): Uint8Array;
}
