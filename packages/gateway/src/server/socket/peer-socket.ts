/**
 * The part of a `net.Socket` that a connection uses. A simulated network implements it too, so that the
 * same server runs in virtual time.
 */
export interface PeerSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** Whether `destroy` was called, or the peer is gone. */
  readonly destroyed: boolean;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  /** `onTaken` is called once the kernel has the bytes. */
  write(bytes: Uint8Array, onTaken?: () => void): boolean;
  /** Sends the bytes, then the end of this side. */
  end(bytes: Uint8Array, onTaken?: () => void): unknown;
  destroy(): unknown;
  /** No "data" follows until `resume`; unread bytes stay in the kernel. */
  pause(): unknown;
  resume(): unknown;
  cork(): void;
  uncork(): void;
  setNoDelay(isOn: boolean): unknown;
  setKeepAlive(isOn: boolean, afterMs: number): unknown;
}
