import type { Clock } from "@sluice/core";
import type { Alarms, Sleeper } from "@sluice/core/internal";
import { ProtocolError } from "@sluice/pulsar/wire";
import type { Command, Frame } from "@sluice/pulsar/wire";
import type { ByteBudget } from "../../memory/byte-budget.ts";
import type { FrameRoom } from "../../memory/frame-room.ts";
import type { Holder, MemoryGuard } from "../../memory/memory-guard.ts";
import type { BrokerObserver } from "../../observe/broker-event.ts";
import { plainText } from "../../refusal/refusal.ts";
import type { SessionLimits } from "../../session/limits.ts";
import type { Backend, OpenBackend, Wire } from "../backend.ts";
import type { FlushTurns } from "./turns/flush-turns.ts";
import { FrameIntake } from "./read/frame-intake.ts";
import { FrameSlice, SEND_BYTES_PER_LOOK } from "./read/frame-slice.ts";
import { LARGE_FRAME_MS } from "./read/large-frame.ts";
import { MemoryWait } from "./read/memory-wait.ts";
import { Outbound } from "./outbound.ts";
import type { PeerSocket } from "./peer-socket.ts";
import { setReading } from "./read/set-reading.ts";
import type { Worker, WorkTurns } from "./turns/work-turns.ts";

/** What all connections of a server share. */
export interface ConnectionWorld {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly flushTurns: FlushTurns;
  readonly workTurns: WorkTurns;
  readonly memory: ByteBudget;
  readonly frameRoom: FrameRoom;
  readonly guard: MemoryGuard;
  readonly observe: BrokerObserver;
  readonly limits: SessionLimits;
  readonly openBackend: OpenBackend;
  /** Decodes the command of a frame, as far as the backend needs it. */
  readonly decode: (bytes: Buffer) => Frame;
}

/** How long a peer that was said goodbye to may take to close its side. */
const GOODBYE_MS = 1_000;

/** Silence after which the system asks the peer's system for a sign of life; ten seconds without one end the connection. */
const TCP_KEEP_ALIVE_MS = 15_000;

/** What a connection takes of the budget: 9 KiB were measured for an idle one. */
const CONNECTION_BYTES = 10_240;

/**
 * Bytes of commands up to which the work of a connection is brief: a few small SENDs or ACKs take 0.05 ms. One read
 * brings up to 64 KiB, which take 0.5 ms.
 */
const BRIEF_BYTES = 4_096;

/** A socket and its backend: bytes become frames, and what the backend sends becomes bytes. */
export class Connection implements Wire, Worker, Sleeper, Holder {
  readonly backend: Backend;
  readonly address: string;
  readonly #socket: PeerSocket;
  readonly #world: ConnectionWorld;
  readonly #intake: FrameIntake;
  readonly #outbound: Outbound;
  readonly #memoryWait: MemoryWait;
  #isPaused = false;
  #isStalled = false;
  #destroyAtMs: number | undefined;
  // For the alarm.
  dueMs: number = Infinity;
  place: number | undefined;

  constructor(socket: PeerSocket, world: ConnectionWorld) {
    this.#socket = socket;
    this.#world = world;
    this.address = addressOf(socket);
    this.#intake = new FrameIntake(world, () => this.wake());
    this.#memoryWait = new MemoryWait(world.memory, () => this.wake());
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

  get isBrief(): boolean {
    return this.#intake.bufferedBytes <= BRIEF_BYTES;
  }

  get keptBytes(): number {
    return this.#intake.bytes + this.#outbound.unreadBytes + this.backend.keptBytes;
  }

  /** Said goodbye to, or gone: nothing can be sent any more. */
  get #isClosing(): boolean {
    return this.#destroyAtMs !== undefined || this.#socket.destroyed;
  }

  send(command: Command, entry?: Buffer): number {
    return this.#isClosing ? 0 : this.#outbound.write(command, entry);
  }

  forward(frame: Buffer): number {
    return this.#isClosing ? 0 : this.#outbound.writeFrame(frame);
  }

  close(reason: string): void {
    if (this.#isClosing) return;
    const nowMs = this.#world.clock.now();
    this.#observeClose(reason);
    this.#destroyAtMs = nowMs + GOODBYE_MS;
    this.backend.end(nowMs);
    this.#outbound.end();
    this.#forgetFrames();
    // Bytes that still come are thrown away: unread bytes would hide that the peer has left.
    setReading(this.#socket, true);
    this.#setAlarm();
  }

  shed(reason: string): void {
    if (this.#isClosing) return;
    this.#observeClose(reason);
    // No goodbye: what the client has not taken is part of what must go.
    this.#guarded(() => this.backend.end(this.#world.clock.now(), true));
    this.#outbound.drop();
    this.#forgetFrames();
    this.#socket.destroy();
  }

  holdBack(): void {
    if (this.#memoryWait.isHeldBack || this.#isClosing) return;
    this.#memoryWait.isHeldBack = true;
    this.#updateReading(false);
    this.#setAlarm();
  }

  wake(): void {
    this.#world.workTurns.add(this);
  }

  setFrameBytesMax(bytes: number): void {
    this.#intake.frameBytesMax = bytes;
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
    this.#world.guard.relieve();
    this.#updateReading(isLeft);
    this.#setAlarm();
    return isLeft;
  }

  #workUntil(isOver: () => boolean, nowMs: number): boolean {
    const { backend } = this;
    const slice = new FrameSlice(isOver);
    for (;;) {
      if (backend.hasWork) {
        backend.work(nowMs);
        if (isOver()) return true;
        continue;
      }
      // Before it is asked whether this connection is there: it may keep the most.
      if (slice.isAtLook) this.#world.guard.relieve();
      if (this.#isClosing || !backend.isReading) return false;
      const frame = this.#intake.next(this.#backendBytes);
      if (frame === undefined) {
        const { isWithinFrame, isDrained } = this.#intake;
        if (isDrained) backend.receive({ kind: "drained", isWithinFrame }, nowMs);
        return false;
      }
      // Its bytes are about to be counted as held or stored, and must not be counted twice.
      if (frame.bytes.length >= SEND_BYTES_PER_LOOK) this.#countPartial();
      backend.receive({ kind: "frame", frame }, nowMs);
      if (slice.endsWith(frame)) return true;
    }
  }

  #observeClose(reason: string): void {
    const { address } = this;
    this.#world.observe({ kind: "client-closed", address, reason: plainText(reason) });
  }

  readonly #backendBytes = (): number => this.#outbound.unreadBytes + this.backend.keptBytes;

  #onData(chunk: Buffer): void {
    if (this.#isClosing) return;
    this.#intake.push(chunk);
    const { workTurns } = this.#world;
    workTurns.run(this);
    if (!workTurns.isQueued(this)) return;
    // Its turn comes later; until then nothing more is read.
    this.#countPartial();
    this.#world.guard.relieve();
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
    this.#intake.forget();
    this.#memoryWait.end();
  }

  #countPartial(): void {
    if (!this.#isClosing) this.#intake.count();
  }

  /** The socket is read only while nothing speaks against it. */
  #updateReading(isLeft: boolean): void {
    if (this.#isClosing) return;
    const { workTurns, clock } = this.#world;
    const { hasRoom, waitsForMemory } = this.#intake;
    const isWaiting = waitsForMemory || this.#memoryWait.isHeldBack;
    if (isWaiting) this.#memoryWait.begin(clock.now());
    else this.#memoryWait.end();
    this.#setStalled(isWaiting || !hasRoom);
    const mayRead =
      this.backend.isReading && !isLeft && !workTurns.isQueued(this) && hasRoom && !isWaiting;
    if (mayRead !== this.#isPaused) return;
    this.#isPaused = !mayRead;
    setReading(this.#socket, mayRead);
  }

  /** The backend must know: a peer that is not read is not heard, and its end is noticed only by writing. */
  #setStalled(isStalled: boolean): void {
    if (isStalled === this.#isStalled) return;
    this.#isStalled = isStalled;
    this.#guarded(() =>
      this.backend.receive({ kind: "stalled", isStalled }, this.#world.clock.now()),
    );
  }

  get #dueAtMs(): number {
    if (this.#destroyAtMs !== undefined) return this.#destroyAtMs;
    return Math.min(this.backend.dueAtMs, this.#intake.dueAtMs, this.#memoryWait.dueAtMs);
  }

  #tick(nowMs: number): void {
    if (this.#destroyAtMs !== undefined) {
      this.#socket.destroy();
      return;
    }
    if (this.#memoryWait.isLong(nowMs)) this.#world.guard.makeRoom();
    if (this.#isClosing) return;
    if (this.#intake.isLate(nowMs))
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
export function addressOf({ remoteAddress = "unknown", remotePort = 0 }: PeerSocket): string {
  return `${remoteAddress}:${remotePort}`;
}
