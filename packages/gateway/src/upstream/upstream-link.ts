import type { Socket } from "node:net";
import type { Timer } from "@sluice/core";
import { FrameDecoder } from "@sluice/pulsar/wire";
import type { ByteBudget } from "../memory/byte-budget.ts";
import { decodeBrokerFrame } from "../relay/relay-commands.ts";
import type { BrokerFrame } from "../relay/relay-commands.ts";
import type { FlushTurns } from "../server/socket/turns/flush-turns.ts";
import { Outbound } from "../server/socket/outbound.ts";
import { setReading } from "../server/socket/read/set-reading.ts";

/** What links share. */
export interface LinkWorld {
  readonly timer: Timer;
  readonly memory: ByteBudget;
  readonly flushTurns: () => FlushTurns;
}

/** Hears what happens on a link. After `onClosed`, or once the link was closed, nothing more comes. */
export interface LinkListener {
  /** Bytes have arrived: `next` may have frames. */
  onReadable(): void;
  /** The broker has taken some of what it was sent. */
  onTaken(): void;
  onClosed(reason: string): void;
}

/** What a link takes of the budget. */
const LINK_BYTES = 10_240;

/** How long a broker may take to read the last bytes of a client that has left. */
const GOODBYE_MS = 1_000;

/** The connection to the broker of one client. */
export class UpstreamLink {
  readonly #socket: Socket;
  readonly #world: LinkWorld;
  readonly #decoder: FrameDecoder;
  readonly #outbound: Outbound;
  #listener: LinkListener | undefined;
  #countedBytes = 0;
  #isPaused = false;

  constructor(socket: Socket, world: LinkWorld, frameBytesMax: number, listener: LinkListener) {
    this.#socket = socket;
    this.#world = world;
    this.#listener = listener;
    this.#decoder = new FrameDecoder({ frameBytesMax });
    this.#outbound = new Outbound(socket, {
      turns: world.flushTurns(),
      memory: world.memory,
      onTaken: () => this.#listener?.onTaken(),
    });
    world.memory.reserve("clients", LINK_BYTES);
    let cause: Error | undefined;
    socket
      .on("data", (chunk: Buffer) => this.#onData(chunk))
      .on("error", (error) => (cause = error))
      .on("end", () => socket.destroy())
      .on("close", () => this.#onClose(cause?.message ?? "the broker closed the connection"));
  }

  /** Bytes that the broker has not taken. */
  get unreadBytes(): number {
    return this.#outbound.unreadBytes;
  }

  /** Memory of what has arrived, or was not taken. */
  get keptBytes(): number {
    return this.#outbound.unreadBytes + this.#countedBytes;
  }

  /** Whether a frame has begun to arrive. */
  get isWithinFrame(): boolean {
    return this.#decoder.isWithinFrame;
  }

  /** Size of the frame that has begun to arrive in pieces; 0 if there is none. */
  get announcedBytes(): number {
    return this.#decoder.announcedBytes ?? 0;
  }

  set frameBytesMax(bytes: number) {
    this.#decoder.frameBytesMax = bytes;
  }

  write(frame: Buffer): void {
    if (this.#listener !== undefined) this.#outbound.writeFrame(frame);
  }

  /**
   * The next frame that has arrived.
   *
   * @throws ProtocolError if the broker sent none
   */
  next(): BrokerFrame | undefined {
    const bytes = this.#decoder.next();
    return bytes === undefined ? undefined : decodeBrokerFrame(bytes);
  }

  /** Counts what has arrived and was not taken. To be called after all calls of `next`. */
  count(): void {
    this.#countAs(this.#decoder.heldBytes);
  }

  setReading(isReading: boolean): void {
    if (isReading !== this.#isPaused) return;
    this.#isPaused = !isReading;
    setReading(this.#socket, isReading);
  }

  /** Sends what was written before, then ends the connection. Nothing more is heard of it. */
  close(): void {
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    this.#countAs(0);
    this.#outbound.end();
    // Bytes that still come are thrown away: unread ones would make the system drop what was sent.
    setReading(this.#socket, true);
    const gone = new AbortController();
    this.#socket.once("close", () => gone.abort());
    void this.#world.timer
      .sleep(GOODBYE_MS, gone.signal)
      .catch(() => undefined)
      .finally(() => this.#socket.destroy());
  }

  /** Ends the connection at once: what the broker has not taken is lost, and its memory is free. */
  drop(): void {
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    this.#countAs(0);
    this.#outbound.drop();
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#listener === undefined) return;
    this.#decoder.push(chunk);
    this.#listener.onReadable();
  }

  #onClose(reason: string): void {
    const listener = this.#listener;
    this.#listener = undefined;
    this.#countAs(0);
    this.#outbound.drop();
    this.#world.memory.release("clients", LINK_BYTES);
    listener?.onClosed(reason);
  }

  #countAs(bytes: number): void {
    const { memory } = this.#world;
    if (bytes > this.#countedBytes) memory.reserve("partial-frame", bytes - this.#countedBytes);
    else if (bytes < this.#countedBytes)
      memory.release("partial-frame", this.#countedBytes - bytes);
    this.#countedBytes = bytes;
  }
}
