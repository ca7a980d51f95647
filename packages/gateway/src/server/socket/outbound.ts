import { encodeFrame, encodeFrameHead } from "@sluice/pulsar/wire";
import type { Command, CommandBodies } from "@sluice/pulsar/wire";
import { Fifo } from "@sluice/core/internal";
import type { ByteBudget } from "../../memory/byte-budget.ts";
import type { Flushable, FlushTurns } from "./turns/flush-turns.ts";
import type { PeerSocket } from "./peer-socket.ts";
import { topicsFrame } from "../embedded/topics-frame.ts";

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
  readonly #socket: PeerSocket;
  readonly #options: OutboundOptions;
  #parts = new Fifo<Buffer>();
  /** What is left of a part that was too large for one write; before all others. */
  #cut: Buffer | undefined;
  /** The first of the frames that arrived one behind the other; after all parts. */
  #run: Buffer | undefined;
  /** Of the run: to ask a view for its buffer takes longer than all else that is done with a frame here. */
  #runBuffer: ArrayBufferLike | undefined;
  #runEnd = 0;
  #runBytes = 0;
  #unreadBytes = 0;
  #isFlushPlanned = false;
  #isWriting = false;

  constructor(socket: PeerSocket, options: OutboundOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** Bytes that the peer has not taken. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Answers how many bytes the frame has. An entry must not change from here on. */
  write(command: Command, entry: Buffer | undefined): number {
    if (command.kind === "getTopicsOfNamespaceResponse") return this.#addTopics(command.body);
    if (entry === undefined) return this.#add(encodeFrame(command));
    return this.#add(encodeFrameHead(command, entry.length)) + this.#add(entry);
  }

  /**
   * Takes a whole frame over. It must not change from here on. Frames that arrived one behind the other
   * leave as one piece, without a copy.
   */
  writeFrame(frame: Buffer): number {
    const { length, byteOffset, buffer } = frame;
    if (byteOffset === this.#runEnd && buffer === this.#runBuffer) this.#runBytes += length;
    else {
      this.#endRun();
      this.#run = frame;
      this.#runBuffer = buffer;
      this.#runBytes = length;
    }
    this.#runEnd = byteOffset + length;
    this.#count(length);
    return length;
  }

  flush(): void {
    this.#isFlushPlanned = false;
    this.#writeNext();
  }

  /** Writes what was added before, then ends this side of the socket. */
  end(): void {
    this.flush();
    this.#endRun();
    const rest: Buffer[] = [];
    for (let part = this.#takePart(Infinity); part !== undefined; part = this.#takePart(Infinity))
      rest.push(part);
    this.#socket.end(Buffer.concat(rest));
  }

  /** The socket is gone: nothing is held any more. */
  drop(): void {
    this.#parts = new Fifo();
    this.#cut = undefined;
    this.#run = undefined;
    this.#runBuffer = undefined;
    this.#release(this.#unreadBytes);
  }

  #addTopics(body: CommandBodies["getTopicsOfNamespaceResponse"]): number {
    const { head, list } = topicsFrame(body);
    return this.#add(head) + this.#add(list);
  }

  #add(part: Buffer): number {
    const bytes = part.length;
    if (bytes === 0) return 0;
    this.#endRun();
    this.#parts.push(part);
    this.#count(bytes);
    return bytes;
  }

  #count(bytes: number): void {
    if (!this.#isFlushPlanned) {
      this.#isFlushPlanned = true;
      this.#options.turns.add(this);
    }
    this.#unreadBytes += bytes;
    this.#options.memory.reserve("outbound", bytes);
  }

  #endRun(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    this.#runBuffer = undefined;
    const isOne = run.length === this.#runBytes;
    this.#parts.push(isOne ? run : Buffer.from(run.buffer, run.byteOffset, this.#runBytes));
  }

  #release(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.#options.memory.release("outbound", bytes);
  }

  #writeNext(): void {
    this.#endRun();
    const isEmpty = this.#parts.length === 0 && this.#cut === undefined;
    if (this.#isWriting || isEmpty || this.#socket.destroyed) return;
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
      const part = this.#takePart(WRITE_BYTES_MAX - bytes);
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

  /** The next part, or the beginning of it if it is larger. */
  #takePart(bytesMax: number): Buffer | undefined {
    const part = this.#cut ?? this.#parts.shift();
    if (part === undefined) return undefined;
    this.#cut = part.length > bytesMax ? part.subarray(bytesMax) : undefined;
    return part.length > bytesMax ? part.subarray(0, bytesMax) : part;
  }
}
