import type { ServiceAddress } from "../../service-url.ts";

/** The address of a broker, or of a proxy in front of it. */
export interface Endpoint extends ServiceAddress {
  readonly isTls: boolean;
}

/** Receives what a transport reports. No method may throw. */
export interface TransportListener {
  /** The listener owns the bytes. */
  onData(bytes: Buffer): void;
  /** After `write` answered false: more may be written. */
  onDrain(): void;
  /** Called once, and last: the peer closed, or the network failed. */
  onClose(cause: Error | undefined): void;
}

/** A byte stream to a broker. With TLS, the handshake and the check of the host name are done. */
export interface Transport {
  /** Called once, before the first `write`. */
  start(listener: TransportListener): void;
  /** Answers whether more should be written now; if not, `onDrain` says when. No write is refused. */
  write(bytes: Uint8Array): boolean;
  /** Closes at once: unsent bytes are dropped, and the listener is not called again. */
  close(): void;
}

/** Opens a transport; rejects with a `ConnectionError`, or with the signal's reason. */
export type Dial = (endpoint: Endpoint, signal: AbortSignal) => Promise<Transport>;
