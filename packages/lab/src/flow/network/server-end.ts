import { Fifo } from "@sluice/core/internal";
import type { PeerSocket } from "@sluice/gateway/internal";
import type { VirtualTime } from "../../simulation/engine/virtual-time.ts";
import type { ClientEnd } from "./client-end.ts";

interface Listeners {
  data: (chunk: Buffer) => void;
  error: (error: Error) => void;
  close: (() => void)[];
}

/** The port of the first simulated client. */
const FIRST_PORT = 50_000;

/**
 * The server's end of a simulated connection. Like a real socket, it does not see the client's end
 * before it has read all bytes in front of it, unless it writes to the client meanwhile.
 */
export class ServerEnd implements PeerSocket {
  readonly remoteAddress = "10.0.0.1";
  readonly remotePort: number;
  readonly #time: VirtualTime;
  readonly #oneWayMs: number;
  readonly #listeners: Listeners = { data: () => {}, error: () => {}, close: [] };
  readonly #unread = new Fifo<Buffer>();
  #client: ClientEnd | undefined;
  #corked: Uint8Array[] | undefined;
  #isReadPlanned = false;
  #isEnded = false;
  #hasClosed = false;
  #isDestroyed = false;
  #pausedSinceMs: number | undefined;
  #pausedMs = 0;

  constructor(time: VirtualTime, { oneWayMs, index }: { oneWayMs: number; index: number }) {
    this.#time = time;
    this.#oneWayMs = oneWayMs;
    this.remotePort = FIRST_PORT + index;
  }

  set client(client: ClientEnd) {
    this.#client = client;
  }

  get destroyed(): boolean {
    return this.#isDestroyed;
  }

  /** How long the server did not read, up to now. */
  get pausedMs(): number {
    const sinceMs = this.#pausedSinceMs;
    return this.#pausedMs + (sinceMs === undefined ? 0 : this.#time.now() - sinceMs);
  }

  get isPaused(): boolean {
    return this.#pausedSinceMs !== undefined;
  }

  on(event: "data", listener: (chunk: Buffer) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "close", listener: () => void): void;
  on(event: keyof Listeners, listener: (value: never) => void): void {
    if (event === "close") this.#listeners.close.push(listener as () => void);
    else if (event === "data") this.#listeners.data = listener as (chunk: Buffer) => void;
    else this.#listeners.error = listener as (error: Error) => void;
  }

  write(bytes: Uint8Array, onTaken?: () => void): boolean {
    if (this.#isDestroyed) return false;
    if (this.#corked === undefined) this.#send(Buffer.from(bytes));
    else this.#corked.push(bytes);
    // The client always reads, so that the kernel always takes what it is given.
    if (onTaken !== undefined) this.#time.after(0, onTaken);
    return true;
  }

  end(bytes: Uint8Array, onTaken?: () => void): void {
    if (this.#isDestroyed) return;
    this.write(bytes, onTaken);
    this.#time.after(this.#oneWayMs, () => this.#client?.receiveEnd());
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.resume();
    this.#time.after(this.#oneWayMs, () => this.#client?.receiveEnd());
    this.#time.after(0, () => this.#close());
  }

  pause(): void {
    this.#pausedSinceMs ??= this.#time.now();
  }

  resume(): void {
    this.#pausedMs = this.pausedMs;
    this.#pausedSinceMs = undefined;
    this.#planRead();
  }

  cork(): void {
    this.#corked ??= [];
  }

  uncork(): void {
    const parts = this.#corked ?? [];
    this.#corked = undefined;
    this.#send(Buffer.concat(parts));
  }

  setNoDelay(): void {}

  setKeepAlive(): void {}

  /** Bytes of the client have arrived. */
  receive(chunk: Buffer): void {
    this.#unread.push(chunk);
    if (!this.#isReadPlanned) this.#read();
  }

  /** The client has closed its side. */
  receiveEnd(): void {
    this.#isEnded = true;
    this.#planRead();
  }

  /** The client is gone and says so, whatever is unread. */
  reset(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.resume();
    this.#listeners.error(new Error("ECONNRESET"));
    this.#close();
  }

  #send(bytes: Buffer): void {
    if (bytes.length > 0) this.#time.after(this.#oneWayMs, () => this.#client?.receive(bytes));
  }

  #planRead(): void {
    if (this.#isReadPlanned) return;
    this.#isReadPlanned = true;
    this.#time.after(0, () => this.#read());
  }

  /** One chunk a turn, as a real socket: the listener may pause after any of them. */
  #read(): void {
    this.#isReadPlanned = false;
    if (this.isPaused || this.#isDestroyed) return;
    const chunk = this.#unread.shift();
    if (chunk !== undefined) {
      this.#client?.makeRoom(chunk.length);
      if (this.#unread.length > 0 || this.#isEnded) this.#planRead();
      this.#listeners.data(chunk);
    } else if (this.#isEnded) {
      this.#isDestroyed = true;
      this.#close();
    }
  }

  #close(): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    for (const listener of this.#listeners.close) listener();
  }
}
