import { Fifo } from "@sluice/core/internal";
import type { Transport, TransportListener } from "@sluice/pulsar";
import type { VirtualTime } from "../../simulation/engine/virtual-time.ts";
import type { ServerEnd } from "./server-end.ts";
import type { WireTap } from "./wire-tap.ts";

/**
 * Bytes on their way that the server has not read: what the kernels of both sides keep. 3.9 MB were
 * measured on loopback for a server that does not read.
 */
const KERNEL_BYTES_MAX = 4_000_000;

/** Unsent bytes from which the transport is not writable; the same as of the client's real sockets. */
const UNSENT_BYTES_MAX = 1_048_576;

/** A real socket reads this many bytes at a time. */
const CHUNK_BYTES_MAX = 65_536;

/** The client's end of a simulated connection. Bytes arrive `oneWayMs` after they were written. */
export class ClientEnd implements Transport {
  readonly #time: VirtualTime;
  readonly #oneWayMs: number;
  readonly #server: ServerEnd;
  readonly #tap: WireTap;
  readonly #unsent = new Fifo<Buffer>();
  /** The rest of a write that did not fit a chunk; before all others. */
  #cut: Buffer | undefined;
  #listener: TransportListener | undefined;
  #unsentBytes = 0;
  /** Bytes that were sent and that the server has not read. */
  #kernelBytes = 0;
  #isFlushPlanned = false;
  #isDrainAwaited = false;
  #isClosed = false;

  constructor(
    time: VirtualTime,
    { oneWayMs, server, tap }: { oneWayMs: number; server: ServerEnd; tap: WireTap },
  ) {
    this.#time = time;
    this.#oneWayMs = oneWayMs;
    this.#server = server;
    this.#tap = tap;
  }

  start(listener: TransportListener): void {
    this.#listener = listener;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isClosed) return true;
    const unsent = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#tap.onClientWrite(unsent);
    this.#unsent.push(unsent);
    this.#unsentBytes += bytes.length;
    this.#planFlush();
    const isWritable = this.#unsentBytes < UNSENT_BYTES_MAX;
    if (!isWritable) this.#isDrainAwaited = true;
    return isWritable;
  }

  /** Unsent bytes are dropped; the end of the stream follows what was sent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#time.after(this.#oneWayMs, () => this.#server.receiveEnd());
  }

  /** Bytes of the server have arrived. */
  receive(bytes: Buffer): void {
    if (this.#isClosed) {
      this.#time.after(this.#oneWayMs, () => this.#server.reset());
      return;
    }
    const kept = this.#tap.onServerBytes(bytes);
    if (kept.length > 0) this.#listener?.onData(kept);
  }

  /** The server has closed its side. */
  receiveEnd(): void {
    if (this.#isClosed) return;
    this.close();
    this.#listener?.onClose(undefined);
  }

  /** The server has read bytes. A client that waits for room learns of it after `oneWayMs`. */
  makeRoom(bytes: number): void {
    const free = (): void => {
      this.#kernelBytes -= bytes;
      if (this.#unsentBytes > 0) this.#planFlush();
    };
    if (this.#unsentBytes > 0) this.#time.after(this.#oneWayMs, free);
    else free();
  }

  /** Writes of one turn leave together, as they do on the client's real sockets. */
  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    void Promise.resolve().then(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushPlanned = false;
    if (this.#isClosed) return;
    let parts: Buffer[] = [];
    let bytes = 0;
    const send = (): void => {
      if (bytes === 0) return;
      const chunk = Buffer.concat(parts, bytes);
      parts = [];
      bytes = 0;
      this.#time.after(this.#oneWayMs, () => this.#server.receive(chunk));
    };
    for (;;) {
      const room = Math.min(CHUNK_BYTES_MAX - bytes, KERNEL_BYTES_MAX - this.#kernelBytes);
      const part = room > 0 ? this.#takeUnsent(room) : undefined;
      if (part === undefined) break;
      parts.push(part);
      bytes += part.length;
      if (bytes === CHUNK_BYTES_MAX) send();
    }
    send();
    if (this.#unsentBytes > 0 || !this.#isDrainAwaited) return;
    this.#isDrainAwaited = false;
    this.#listener?.onDrain();
  }

  /** The next unsent bytes, cut to `bytesMax`. */
  #takeUnsent(bytesMax: number): Buffer | undefined {
    const part = this.#cut ?? this.#unsent.shift();
    if (part === undefined) return undefined;
    this.#cut = part.length > bytesMax ? part.subarray(bytesMax) : undefined;
    const taken = part.subarray(0, bytesMax);
    this.#unsentBytes -= taken.length;
    this.#kernelBytes += taken.length;
    return taken;
  }
}
