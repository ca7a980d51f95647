import type { Socket } from "node:net";
import type { Timer } from "@sluice/core";
import { encodeFrame, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { SessionFacts } from "../session/handshake.ts";
import { NO_REQUEST } from "../session/reply.ts";
import { Connection } from "./connection.ts";
import type { ConnectionWorld } from "./connection.ts";
import { ConnectionCount } from "./connection-limits.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import { PublishMemory } from "./publish-memory.ts";

export interface ServerOptions {
  readonly facts: SessionFacts;
  readonly connections: ConnectionLimits;
  /** Bytes of entries that are being stored, of all connections. */
  readonly publishBytesMax: number;
}

export interface ServerStats {
  readonly connections: number;
  readonly refusedConnections: number;
  readonly producers: number;
  readonly consumers: number;
  readonly pendingSends: number;
  readonly pendingBytes: number;
  /** Bytes that clients were sent and have not taken. */
  readonly unreadBytes: number;
  /** Connections that are not read now, whatever the reason. */
  readonly pausedConnections: number;
}

/** How often sessions look at the clock: nothing that they watch is more exact. */
const TICK_MS = 250;

/** All connections of a broker. */
export class Server {
  readonly #timer: Timer;
  readonly #world: ConnectionWorld;
  readonly #facts: SessionFacts;
  readonly #count: ConnectionCount;
  readonly #connections = new Set<Connection>();
  readonly #stop = new AbortController();
  #refusedConnections = 0;
  #isClosing = false;
  #onEmpty: () => void = () => {};

  constructor(timer: Timer, world: Omit<ConnectionWorld, "memory">, options: ServerOptions) {
    const memory = new PublishMemory(options.publishBytesMax, (isFull) => this.#onMemory(isFull));
    this.#timer = timer;
    this.#world = { ...world, memory };
    this.#facts = options.facts;
    this.#count = new ConnectionCount(options.connections);
    void this.#tickUntilStopped();
  }

  accept(socket: Socket): void {
    const { remoteAddress = "" } = socket;
    if (this.#isClosing || !this.#count.tryEnter(remoteAddress)) {
      this.#turnAway(socket);
      return;
    }
    const connection = new Connection(socket, this.#world, this.#facts);
    this.#connections.add(connection);
    socket.on("close", () => {
      this.#connections.delete(connection);
      this.#count.leave(remoteAddress);
      if (this.#connections.size === 0) this.#onEmpty();
    });
  }

  stats(): ServerStats {
    const connections = [...this.#connections];
    const sum = (of: (connection: Connection) => number): number =>
      connections.reduce((total, connection) => total + of(connection), 0);
    return {
      connections: this.#count.all,
      refusedConnections: this.#refusedConnections,
      producers: sum(({ session }) => session.producers),
      consumers: sum(({ session }) => session.consumers),
      pendingSends: sum(({ session }) => session.pendingSends),
      pendingBytes: this.#world.memory.bytes,
      unreadBytes: sum(({ unreadBytes }) => unreadBytes),
      pausedConnections: sum(({ session }) => (session.isReading ? 0 : 1)),
    };
  }

  /**
   * Takes nobody in and reads nothing any more. Resolves once what was read is stored and answered:
   * a client that does not hear of what was stored sends it again.
   */
  async stopReading(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#connections)
      connection.carryOut(connection.session.stopReading());
    await this.#world.memory.idle();
  }

  /** Says goodbye to all, and gives them a moment to hear it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#connections) connection.close("the broker closes");
    if (this.#connections.size > 0)
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    this.#stop.abort();
  }

  #onMemory(isFull: boolean): void {
    for (const connection of this.#connections) {
      const { session } = connection;
      connection.carryOut(isFull ? session.throttle("memory") : session.release("memory"));
    }
  }

  #turnAway(socket: Socket): void {
    this.#refusedConnections++;
    const message = "there are too many connections";
    const error = SERVER_ERROR.TooManyRequests;
    socket.on("error", () => {});
    const frame = encodeFrame({ kind: "error", body: { requestId: NO_REQUEST, error, message } });
    // Nothing of it is read, so that it costs no more than this.
    socket.end(frame, () => socket.destroy());
  }

  async #tickUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#timer.sleep(TICK_MS, signal).catch(() => {});
      const nowMs = this.#world.clock.now();
      for (const connection of this.#connections) connection.tick(nowMs);
    }
  }
}
