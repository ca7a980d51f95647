import type { Socket } from "node:net";
import { encodeFrame, encodeFrameHead } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import { Fifo } from "@sluice/core/internal";
import type { ByteBudget } from "../memory/byte-budget.ts";
import type { Flushable, FlushTurns } from "./flush-turns.ts";

/** Up to this size a copy costs less than a piece of its own in a system call. */
const COPY_BYTES_MAX = 2_048;

/**
 * Bytes that the socket is given at once. When it has taken them the client has made progress: a
 * larger number makes a slow client look as if it took nothing.
 */
const WRITE_BYTES_MAX = 131_072;

export interface OutboundOptions {
  readonly turns: FlushTurns;
  readonly memory: ByteBudget;
  /** The peer, or rather its kernel, has taken some bytes. */
  readonly onTaken: () => void;
}

/** What a socket is to be sent, gathered over a turn of the event loop. */
export class Outbound implements Flushable {
  readonly #socket: Socket;
  readonly #options: OutboundOptions;
  #parts = new Fifo<Buffer>();
  #unreadBytes = 0;
  #isFlushPlanned = false;
  #isWriting = false;

  constructor(socket: Socket, options: OutboundOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** Bytes that the peer has not taken. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Answers how many bytes the frame has. An entry must not change from here on. */
  write(command: Command, entry: Buffer | undefined): number {
    if (entry === undefined) return this.#add(encodeFrame(command));
    return this.#add(encodeFrameHead(command, entry.length)) + this.#add(entry);
  }

  flush(): void {
    this.#isFlushPlanned = false;
    this.#writeNext();
  }

  /** Writes what was added before, then ends this side of the socket. */
  end(): void {
    this.flush();
    const rest: Buffer[] = [];
    for (let part = this.#parts.shift(); part !== undefined; part = this.#parts.shift())
      rest.push(part);
    this.#socket.end(Buffer.concat(rest));
  }

  /** The socket is gone: nothing is held any more. */
  drop(): void {
    this.#parts = new Fifo();
    this.#release(this.#unreadBytes);
  }

  #add(part: Buffer): number {
    const bytes = part.length;
    if (bytes === 0) return 0;
    if (!this.#isFlushPlanned) {
      this.#isFlushPlanned = true;
      this.#options.turns.add(this);
    }
    this.#parts.push(part);
    this.#unreadBytes += bytes;
    this.#options.memory.reserve("outbound", bytes);
    return bytes;
  }

  #release(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.#options.memory.release("outbound", bytes);
  }

  #writeNext(): void {
    if (this.#isWriting || this.#parts.length === 0 || this.#socket.destroyed) return;
    const { pieces, bytes } = this.#takePieces();
    this.#isWriting = true;
    this.#socket.cork();
    pieces.forEach((piece, index) => {
      if (index < pieces.length - 1) this.#socket.write(piece);
      else this.#socket.write(piece, () => this.#onWritten(bytes));
    });
    this.#socket.uncork();
  }

  #onWritten(bytes: number): void {
    this.#isWriting = false;
    // After `drop` nothing is left to release.
    if (this.#unreadBytes < bytes) return;
    this.#release(bytes);
    // What this turn still brings leaves together with it, at the end of the turn.
    if (!this.#isFlushPlanned) this.#writeNext();
    this.#options.onTaken();
  }

  /** The next bytes in few pieces: small ones that follow each other become one, a large one is cut. */
  #takePieces(): { readonly pieces: readonly Buffer[]; readonly bytes: number } {
    const pieces: Buffer[] = [];
    let small: Buffer[] = [];
    let bytes = 0;
    const join = (): void => {
      const [first] = small;
      if (first !== undefined) pieces.push(small.length === 1 ? first : Buffer.concat(small));
      small = [];
    };
    while (bytes < WRITE_BYTES_MAX) {
      const part = this.#parts.shift();
      if (part === undefined) break;
      bytes += part.length;
      if (part.length <= COPY_BYTES_MAX) small.push(part);
      else {
        join();
        pieces.push(part);
      }
    }
    join();
    return { pieces, bytes };
  }
}
