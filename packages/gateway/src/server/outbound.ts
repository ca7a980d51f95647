import type { Socket } from "node:net";
import { encodeFrame, encodeFrameHead } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import type { Flushable, FlushTurns } from "./flush-turns.ts";

/** Below this a copy costs less than a piece of its own in a system call. */
const COPY_BYTES_MAX = 2_048;

/** What a socket is to be sent, gathered over a turn of the event loop. */
export class Outbound implements Flushable {
  readonly #socket: Socket;
  readonly #turns: FlushTurns;
  readonly #onRead: () => void;
  #parts: Buffer[] = [];
  #gatheredBytes = 0;

  /** `onRead`: the peer, or rather its kernel, has taken what was flushed. */
  constructor(socket: Socket, turns: FlushTurns, onRead: () => void) {
    this.#socket = socket;
    this.#turns = turns;
    this.#onRead = onRead;
  }

  /** Bytes that the peer has not taken. */
  get unreadBytes(): number {
    return this.#gatheredBytes + this.#socket.writableLength;
  }

  /** Answers how many bytes the frame has. An entry must not change from here on. */
  write(command: Command, entry: Buffer | undefined): number {
    if (entry === undefined) return this.#add(encodeFrame(command));
    return this.#add(encodeFrameHead(command, entry.length)) + this.#add(entry);
  }

  flush(): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#gatheredBytes = 0;
    if (this.#socket.destroyed || parts.length === 0) return;
    this.#socket.cork();
    const pieces = joinSmall(parts);
    pieces.forEach((piece, index) => {
      if (index < pieces.length - 1) this.#socket.write(piece);
      else this.#socket.write(piece, this.#onRead);
    });
    this.#socket.uncork();
  }

  #add(part: Buffer): number {
    if (this.#parts.length === 0) this.#turns.add(this);
    this.#parts.push(part);
    this.#gatheredBytes += part.length;
    return part.length;
  }
}

/** The same bytes in fewer pieces: small ones that follow each other become one. */
function joinSmall(parts: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [];
  let small: Buffer[] = [];
  const join = (): void => {
    if (small.length > 0) pieces.push(Buffer.concat(small));
    small = [];
  };
  for (const part of parts) {
    if (part.length <= COPY_BYTES_MAX) small.push(part);
    else {
      join();
      pieces.push(part);
    }
  }
  join();
  return pieces;
}
