import type { Transport, TransportListener } from "../src/client/connection/transport.ts";

export interface MemoryLinkOptions {
  /** Unread bytes above which the writer is told to wait. */
  readonly unreadBytesMax?: number;
}

/**
 * A transport and the end that a scripted peer holds. Bytes arrive a turn of the promises later, so
 * that nothing is ever heard within the call that caused it.
 */
export class MemoryLink implements Transport {
  /** Receives the bytes that the client writes, in order. */
  onBytes: (bytes: Buffer) => void = () => undefined;
  onClosed: () => void = () => undefined;
  readonly #unreadBytesMax: number;
  #listener: TransportListener | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isReading = true;
  #isClosed = false;
  #needsDrain = false;
  /** All bytes that the client has written. */
  writtenBytes = 0;
  unreadBytesPeak = 0;

  constructor({ unreadBytesMax = 1_048_576 }: MemoryLinkOptions = {}) {
    this.#unreadBytesMax = unreadBytesMax;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  start(listener: TransportListener): void {
    this.#listener = listener;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isClosed) return true;
    this.writtenBytes += bytes.length;
    // Not a copy, so that a test can damage bytes that the client keeps.
    this.#unread.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    this.#unreadBytes += bytes.length;
    this.unreadBytesPeak = Math.max(this.unreadBytesPeak, this.#unreadBytes);
    this.#later(() => this.#read());
    this.#needsDrain ||= this.#unreadBytes >= this.#unreadBytesMax;
    return this.#unreadBytes < this.#unreadBytesMax;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClosed();
  }

  /** The peer's side: sends bytes to the client. */
  deliver(bytes: Buffer): void {
    this.#later(() => {
      if (!this.#isClosed) this.#listener?.onData(bytes);
    });
  }

  /** The peer's side: reads nothing until `resume`. */
  pause(): void {
    this.#isReading = false;
  }

  resume(): void {
    this.#isReading = true;
    this.#later(() => this.#read());
  }

  /** The peer's side: bytes on their way are lost. */
  cut(cause?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#later(() => this.#listener?.onClose(cause));
    this.onClosed();
  }

  #read(): void {
    while (this.#isReading && !this.#isClosed) {
      const bytes = this.#unread.shift();
      if (bytes === undefined) break;
      this.#unreadBytes -= bytes.length;
      this.onBytes(bytes);
    }
    if (this.#needsDrain && this.#unreadBytes === 0 && !this.#isClosed) {
      this.#needsDrain = false;
      this.#listener?.onDrain();
    }
  }

  #later(run: () => void): void {
    void Promise.resolve().then(run);
  }
}
