import { Alarms } from "@sluice/core/internal";
import type { Clock, Timer } from "@sluice/core";
import { decodeFrame, encodeFrame, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { Frame } from "@sluice/pulsar/wire";
import type { ByteUse } from "../memory/byte-budget.ts";
import type { CountedByteBudget } from "../memory/counted-byte-budget.ts";
import { FrameRoom } from "../memory/frame-room.ts";
import { MemoryGuard } from "../memory/memory-guard.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import type { SessionLimits } from "../session/limits.ts";
import { NO_REQUEST } from "../session/request/reply.ts";
import type { OpenBackend } from "./backend.ts";
import { addressOf, Connection } from "./socket/connection.ts";
import type { ConnectionWorld } from "./socket/connection.ts";
import { FlushTurns } from "./socket/turns/flush-turns.ts";
import { IngressTurns } from "./socket/turns/ingress-turns.ts";
import type { Releasing } from "./socket/turns/ingress-turns.ts";
import type { PeerSocket } from "./socket/peer-socket.ts";
import { WorkTurns } from "./socket/turns/work-turns.ts";

export interface ServerDependencies {
  readonly timer: Timer;
  /** May be behind by one turn of the event loop. */
  readonly clock: Clock;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  readonly memory: CountedByteBudget;
  readonly observe: BrokerObserver;
  readonly limits: SessionLimits;
  readonly openBackend: OpenBackend;
  /** Decodes the command of a frame, all of it unless given. */
  readonly decode?: (bytes: Buffer) => Frame;
  /** Lets held SENDs go; `onWakeAt` of the server is to be called when `wakeAtMs` becomes earlier. */
  readonly ingress: Releasing;
}

export interface ServerStats {
  readonly connections: number;
  readonly refusedConnections: number;
  readonly producers: number;
  readonly consumers: number;
  readonly pendingSends: number;
  /** Bytes of entries that are being stored. */
  readonly pendingBytes: number;
  /** Bytes of SENDs that wait for a publish limit. */
  readonly heldBytes: number;
  /** Bytes that clients were sent and have not taken. */
  readonly unreadBytes: number;
  /** Bytes of the budget that are in use, of all uses. */
  readonly memoryBytes: number;
  readonly memoryBytesMax: number;
  /** The most bytes of the budget that were ever in use at one time. */
  readonly memoryPeakBytes: number;
  /** `memoryBytes` by what they are held for. */
  readonly memoryByUse: Readonly<Record<ByteUse, number>>;
  /** Connections that are not read now, for any reason. */
  readonly pausedConnections: number;
}

/** Milliseconds that one connection, and all together, may work before others get their turn. */
const WORK = { sliceMs: 1, turnMs: 4 };

/** The part of the budget for large frames that arrive in pieces: 9 of 5 MiB at a time by default. */
const FRAME_ROOM_PART = 1 / 4;

/** All connections of a broker. */
export class Server {
  readonly #world: ConnectionWorld;
  readonly #memory: CountedByteBudget;
  readonly #nextTurn: () => Promise<void>;
  readonly #ingress: Releasing;
  readonly #ingressTurns: IngressTurns;
  readonly #connections = new Set<Connection>();
  #refusedConnections = 0;
  #isClosing = false;
  #onEmpty: () => void = () => {};

  constructor(dependencies: ServerDependencies) {
    const { timer, clock, nextTurn, memory, observe, limits, openBackend } = dependencies;
    const { decode = decodeFrame } = dependencies;
    this.#memory = memory;
    this.#nextTurn = nextTurn;
    const flushTurns = new FlushTurns(nextTurn);
    const alarms = new Alarms(timer);
    const workTurns = new WorkTurns(timer, nextTurn, {
      ...WORK,
      onTurnEnd: () => flushTurns.flush(),
    });
    this.#ingress = dependencies.ingress;
    this.#ingressTurns = new IngressTurns(dependencies.ingress, timer, alarms, workTurns);
    this.#world = {
      clock,
      alarms,
      flushTurns,
      workTurns,
      memory,
      frameRoom: new FrameRoom(memory.bytesMax * FRAME_ROOM_PART),
      guard: new MemoryGuard(memory, this.#connections),
      observe,
      limits,
      openBackend,
      decode,
    };
  }

  /** To be told where bytes arrive for a backend. */
  get guard(): MemoryGuard {
    return this.#world.guard;
  }

  /** Gathers what backends write elsewhere, together with what clients are sent. */
  get flushTurns(): FlushTurns {
    return this.#world.flushTurns;
  }

  accept(socket: PeerSocket): void {
    if (this.#isClosing) {
      this.refuse(socket, "the broker closes");
      return;
    }
    if (!this.guard.letsIn()) {
      this.refuse(socket, "four fifths of the memory for clients are in use; try again later");
      return;
    }
    const connection = new Connection(socket, this.#world);
    this.#connections.add(connection);
    socket.on("close", () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onEmpty();
    });
  }

  /** The ingress needs to be woken earlier than before. */
  onWakeAt(): void {
    this.#ingressTurns.onWakeAt();
  }

  stats(): ServerStats {
    const memory = this.#memory;
    let producers = 0;
    let consumers = 0;
    let pendingSends = 0;
    let pausedConnections = 0;
    for (const { backend, isPaused } of this.#connections) {
      producers += backend.producers;
      consumers += backend.consumers;
      pendingSends += backend.pendingSends;
      if (isPaused) pausedConnections++;
    }
    return {
      connections: this.#connections.size,
      refusedConnections: this.#refusedConnections,
      producers,
      consumers,
      pendingSends,
      pendingBytes: memory.bytesOf("publish"),
      heldBytes: memory.bytesOf("held"),
      unreadBytes: memory.bytesOf("outbound"),
      memoryBytes: memory.bytes,
      memoryBytesMax: memory.bytesMax,
      memoryPeakBytes: memory.peakBytes,
      memoryByUse: memory.byUse(),
      pausedConnections,
    };
  }

  /**
   * Accepts no connection and reads nothing any more. Held SENDs are dropped: they would go on being let
   * through until the end, and the last ones would have no answer. Resolves once what was read is stored
   * and answered: a client that does not hear of what was stored sends it again.
   */
  async stopReading(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#connections) connection.stopReading();
    this.#ingress.dropHeld?.(this.#world.clock.now());
    await this.#memory.unused("publish");
  }

  /** Says goodbye to all clients, and gives them a moment to hear it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    // Clients hear what became of their producers and consumers first.
    while (this.#hasWork()) await this.#nextTurn();
    for (const connection of this.#connections) connection.close("the broker closes");
    if (this.#connections.size > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
  }

  /** Tells a client that it cannot be served. */
  refuse(socket: PeerSocket, reason: string): void {
    this.#refusedConnections++;
    const address = addressOf(socket);
    this.#world.observe({ kind: "client-refused", address, reason });
    const error = SERVER_ERROR.TooManyRequests;
    socket.on("error", () => {});
    const body = { requestId: NO_REQUEST, error, message: reason };
    // Nothing of it is read, so that it costs no more than this.
    socket.end(encodeFrame({ kind: "error", body }), () => socket.destroy());
  }

  #hasWork(): boolean {
    return [...this.#connections].some(({ backend }) => backend.hasWork);
  }
}
