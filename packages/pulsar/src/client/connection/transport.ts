import type { ServiceAddress } from "../../service-url.ts";

/** Where a broker, or a proxy before it, is reached. */
export interface Endpoint extends ServiceAddress {
  readonly isTls: boolean;
}

/** What hears from a transport. No method may throw. */
export interface TransportListener {
  /** The bytes are the listener's from then on. */
  onData(bytes: Buffer): void;
  /** What was written is gone far enough for more. */
  onDrain(): void;
  /** Once, and then nothing more: the other side closed, or the network failed. */
  onClose(cause: Error | undefined): void;
}

/** Bytes both ways. TLS, if any, is done, and the peer's name checked, before there is one. */
export interface Transport {
  /** To be called once, before any byte is written. */
  start(listener: TransportListener): void;
  /** Answers whether more may follow; if not, `onDrain` says when. Nothing is ever refused. */
  write(bytes: Uint8Array): boolean;
  /** At once: what has not left yet is dropped. Nothing is heard of it afterwards. */
  close(): void;
}

/** Opens a transport; rejects with a `ConnectionError`, or with the signal's reason. */
export type Dial = (endpoint: Endpoint, signal: AbortSignal) => Promise<Transport>;
