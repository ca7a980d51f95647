import type { Socket } from "node:net";
import type { Clock } from "@sluice/core";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import { decodeFrame, FrameDecoder, ProtocolError } from "@sluice/pulsar/wire";
import type { Command, Frame } from "@sluice/pulsar/wire";
import type { ByteBudget } from "../memory/byte-budget.ts";
import type { FrameRoom } from "../memory/frame-room.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import { plainText } from "../refusal/refusal.ts";
import type { SessionLimits } from "../session/limits.ts";
import type { Backend, OpenBackend, Wire } from "./backend.ts";
import type { FlushTurns } from "./flush-turns.ts";
import { Outbound } from "./outbound.ts";
import type { Worker, WorkTurns } from "./work-turns.ts";

/** What all connections of a server share. */
export interface ConnectionWorld {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly flushTurns: FlushTurns;
  readonly workTurns: WorkTurns;
  readonly memory: ByteBudget;
  readonly frameRoom: FrameRoom;
  readonly observe: BrokerObserver;
  readonly limits: SessionLimits;
  readonly openBackend: OpenBackend;
}

/** Where a frame says how long its command is. */
const COMMAND_LENGTH_AT = 4;

/** How long a peer that was said goodbye to may take to close its side. */
const GOODBYE_MS = 1_000;

/** Silence after which the system asks the peer's system for a sign of life. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** Frames above this size, if they come in pieces, wait for room before more of them is read. */
const LARGE_FRAME_BYTES = 65_536;

/** While memory is exhausted, a connection that has more than this in a begun frame is not read. */
const PARTIAL_BYTES_MAX = 8_192;

/** A large frame must arrive in this time while others wait for room: 1 MB/s for the largest. */
const LARGE_FRAME_MS = 5_000;

/** SENDs that are handed over between two looks at the clock; one takes some 5 µs. */
const SENDS_PER_LOOK = 8;

/** SENDs above this size take long enough for a look at the clock of their own. */
const SEND_BYTES_PER_LOOK = 32_768;

/** Commands whose work is done after they were handed over, and how many of them one slice may start. */
const STARTS_WORK: ReadonlySet<string> = new Set([
  "producer",
  "subscribe",
  "unsubscribe",
  "seek",
  "getLastMessageId",
  "getSchema",
  "getOrCreateSchema",
]);
const STARTED_PER_SLICE = 8;

/** Commands above this size, such as a new schema, take a slice of their own: what they start takes long. */
const COMMAND_BYTES_PER_SLICE = 16_384;

/** What a connection takes of the budget: 9 KiB were measured for an idle one. */
const CONNECTION_BYTES = 10_240;

/** A socket and its backend: bytes become frames, and what the backend sends becomes bytes. */
export class Connection implements Wire, Worker, Sleeper {
  readonly backend: Backend;
  readonly address: string;
  readonly #socket: Socket;
  readonly #world: ConnectionWorld;
  readonly #decoder: FrameDecoder;
  readonly #outbound: Outbound;
  /** A SEND that waits for memory. */
  #held: Frame | undefined;
  #heldBytes = 0;
  #stopWaiting: (() => void) | undefined;
  #largeFrame: LargeFrame | undefined;
  #isPaused = false;
  #destroyAtMs: number | undefined;
  // For the alarm.
  dueMs: number = Infinity;
  place: number | undefined;

  constructor(socket: Socket, world: ConnectionWorld) {
    this.#socket = socket;
    this.#world = world;
    this.address = addressOf(socket);
    this.#decoder = new FrameDecoder({ frameBytesMax: world.limits.greetingBytesMax });
    this.#outbound = new Outbound(socket, {
      turns: world.flushTurns,
      memory: world.memory,
      onTaken: () => this.#onTaken(),
    });
    this.backend = world.openBackend(this, world.clock.now());
    world.memory.reserve("clients", CONNECTION_BYTES);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    // "close" follows.
    socket.on("error", () => {});
    socket.on("close", () => this.#onClose());
    this.#setAlarm();
  }

  /** Bytes that were sent and that the peer has not taken. */
  get unreadBytes(): number {
    return this.#outbound.unreadBytes;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Said goodbye to, or gone: nothing can be sent any more. */
  get #isClosing(): boolean {
    return this.#destroyAtMs !== undefined || this.#socket.destroyed;
  }

  send(command: Command, entry?: Buffer): number {
    return this.#isClosing ? 0 : this.#outbound.write(command, entry);
  }

  close(reason: string): void {
    if (this.#isClosing) return;
    const nowMs = this.#world.clock.now();
    this.#world.observe({
      kind: "client-closed",
      address: this.address,
      reason: plainText(reason),
    });
    this.#destroyAtMs = nowMs + GOODBYE_MS;
    this.backend.end(nowMs);
    this.#outbound.end();
    this.#forgetFrames();
    // Bytes that still come are thrown away: unread bytes would hide that the peer has left.
    this.#socket.resume();
    this.#setAlarm();
  }

  wake(): void {
    this.#world.workTurns.add(this);
  }

  setFrameBytesMax(bytes: number): void {
    this.#decoder.frameBytesMax = bytes;
  }

  /** Takes no more frames. What was taken is still answered. */
  stopReading(): void {
    this.#guarded(() => this.backend.receive({ kind: "stopReading" }, this.#world.clock.now()));
  }

  /** The alarm has rung. Its work waits for a turn, because many may ring at once. */
  ring(): void {
    this.dueMs = Infinity;
    this.wake();
  }

  /** Hands frames over, and lets the backend work, until the slice is over. */
  work(isOver: () => boolean): boolean {
    let isLeft = false;
    this.#guarded(() => {
      const nowMs = this.#world.clock.now();
      if (nowMs >= this.#dueAtMs) this.#tick(nowMs);
      isLeft = this.#workUntil(isOver, nowMs);
      this.#countPartial();
    });
    this.#updateReading(isLeft);
    this.#setAlarm();
    return isLeft;
  }

  #workUntil(isOver: () => boolean, nowMs: number): boolean {
    const { backend } = this;
    let started = 0;
    for (let sends = 0; ;) {
      if (backend.hasWork) {
        backend.work(nowMs);
        if (isOver()) return true;
        continue;
      }
      if (this.#isClosing || !backend.isReading) return false;
      const frame = this.#nextFrame();
      if (frame === undefined) {
        const { isWithinFrame } = this.#decoder;
        if (this.#held === undefined) backend.receive({ kind: "drained", isWithinFrame }, nowMs);
        return false;
      }
      const { command, bytes } = frame;
      backend.receive({ kind: "frame", frame }, nowMs);
      sends++;
      const isShort =
        command.kind === "send" && sends < SENDS_PER_LOOK && bytes.length < SEND_BYTES_PER_LOOK;
      if (isShort) continue;
      sends = 0;
      if (STARTS_WORK.has(command.kind)) started++;
      const isLarge = command.kind !== "send" && bytes.length > COMMAND_BYTES_PER_SLICE;
      if (isOver() || isLarge || started === STARTED_PER_SLICE) return true;
    }
  }

  /** Undefined if there is none, or if it is a SEND and memory is exhausted. */
  #nextFrame(): Frame | undefined {
    const frame = this.#held ?? this.#decodeNext();
    if (frame === undefined) return undefined;
    const { memory } = this.#world;
    const mustWait = memory.isExhausted && frame.command.kind === "send";
    this.#held = mustWait ? frame : undefined;
    return mustWait ? undefined : frame;
  }

  #decodeNext(): Frame | undefined {
    const bytes = this.#decoder.next();
    if (bytes === undefined) return undefined;
    const { commandBytesMax } = this.#world.limits;
    if (bytes.readUInt32BE(COMMAND_LENGTH_AT) > commandBytesMax)
      throw new ProtocolError(`a command has ${commandBytesMax} bytes at most`);
    return decodeFrame(bytes);
  }

  #onData(chunk: Buffer): void {
    if (this.#destroyAtMs !== undefined) return;
    this.#decoder.push(chunk);
    const { workTurns } = this.#world;
    workTurns.run(this);
    if (!workTurns.isQueued(this)) return;
    // Its turn comes later; until then nothing more is read.
    this.#countPartial();
    this.#updateReading(true);
  }

  #onTaken(): void {
    const { unreadBytes } = this.#outbound;
    if (this.#isClosing) return;
    this.#guarded(() =>
      this.backend.receive({ kind: "taken", unreadBytes }, this.#world.clock.now()),
    );
  }

  #onClose(): void {
    const { alarms, memory, clock } = this.#world;
    this.#guarded(() => this.backend.end(clock.now()));
    this.#outbound.drop();
    this.#forgetFrames();
    memory.release("clients", CONNECTION_BYTES);
    alarms.clear(this);
  }

  #forgetFrames(): void {
    this.#held = undefined;
    this.#largeFrame?.leave();
    this.#largeFrame = undefined;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#world.memory.release("partial-frame", this.#heldBytes);
    this.#heldBytes = 0;
  }

  /** Counts what has arrived and was not handed over; a large frame must ask for room. */
  #countPartial(): void {
    if (this.#isClosing) return;
    const { memory, frameRoom, clock } = this.#world;
    const bytes = this.#decoder.heldBytes + (this.#held?.bytes.length ?? 0);
    if (bytes > this.#heldBytes) memory.reserve("partial-frame", bytes - this.#heldBytes);
    else if (bytes < this.#heldBytes) memory.release("partial-frame", this.#heldBytes - bytes);
    this.#heldBytes = bytes;
    const announcedBytes = this.#decoder.announcedBytes ?? 0;
    if (announcedBytes <= LARGE_FRAME_BYTES) {
      this.#largeFrame?.leave();
      this.#largeFrame = undefined;
    } else this.#largeFrame ??= new LargeFrame(frameRoom, announcedBytes, clock, () => this.wake());
  }

  /** The socket is read only while nothing speaks against it. */
  #updateReading(isLeft: boolean): void {
    if (this.#isClosing) return;
    const { memory, workTurns } = this.#world;
    const hasRoom = this.#largeFrame?.isAdmitted ?? true;
    const isLargeAdmitted = this.#largeFrame?.isAdmitted === true;
    const waitsForMemory =
      this.#held !== undefined ||
      (memory.isExhausted && !isLargeAdmitted && this.#heldBytes > PARTIAL_BYTES_MAX);
    if (waitsForMemory) this.#waitForMemory();
    const mayRead =
      this.backend.isReading && !isLeft && !workTurns.isQueued(this) && hasRoom && !waitsForMemory;
    if (mayRead !== this.#isPaused) return;
    this.#isPaused = !mayRead;
    if (mayRead) this.#socket.resume();
    else this.#socket.pause();
  }

  #waitForMemory(): void {
    this.#stopWaiting ??= this.#world.memory.whenFree(() => {
      this.#stopWaiting = undefined;
      this.wake();
    });
  }

  get #dueAtMs(): number {
    if (this.#destroyAtMs !== undefined) return this.#destroyAtMs;
    return Math.min(this.backend.dueAtMs, this.#largeFrame?.dueAtMs ?? Infinity);
  }

  #tick(nowMs: number): void {
    if (this.#destroyAtMs !== undefined) {
      this.#socket.destroy();
      return;
    }
    if (this.#largeFrame?.isLate(nowMs) === true)
      this.close(`a large frame took ${LARGE_FRAME_MS} ms while others waited for memory`);
    else this.backend.tick(nowMs);
  }

  /** Only an earlier instant needs another alarm: one that rings too early is set anew. */
  #setAlarm(): void {
    if (this.#socket.destroyed) return;
    const dueMs = this.#dueAtMs;
    if (dueMs >= this.dueMs) return;
    const { alarms, clock } = this.#world;
    alarms.clear(this);
    this.dueMs = dueMs;
    alarms.set(this, clock.now());
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof ProtocolError) this.close(error.message);
      else {
        this.#world.observe({ kind: "error", error });
        this.close("an error of the broker");
      }
    }
  }
}

/** "host:port" of a peer. */
export function addressOf({ remoteAddress = "unknown", remotePort = 0 }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

/** A frame above `LARGE_FRAME_BYTES` that arrives in pieces. */
class LargeFrame {
  readonly #room: FrameRoom;
  readonly leave: () => void;
  isAdmitted = false;
  dueAtMs = Infinity;

  /** `onAdmitted` is called only if it had to wait. */
  constructor(room: FrameRoom, bytes: number, clock: Clock, onAdmitted: () => void) {
    this.#room = room;
    let isWaiting = false;
    this.leave = room.request(bytes, () => {
      this.isAdmitted = true;
      this.dueAtMs = clock.now() + LARGE_FRAME_MS;
      if (isWaiting) onAdmitted();
    });
    isWaiting = true;
  }

  /** Whether it took too long; if no other frame waits it gets the same time again. */
  isLate(nowMs: number): boolean {
    if (nowMs < this.dueAtMs) return false;
    if (this.#room.isContended) return true;
    this.dueAtMs = nowMs + LARGE_FRAME_MS;
    return false;
  }
}
