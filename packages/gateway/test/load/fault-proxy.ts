import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Random } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";

/** Bytes that are forwarded at once, at most: frames are cut anywhere. */
const PIECE_BYTES_MAX = 3_000;

/** One piece in ten is late, as one that was lost and sent again; one in a hundred by more. */
const LATE_MS = 10;
const VERY_LATE_MS = 250;

/** Bytes on their way in one direction from which its sender is not read. */
const QUEUED_BYTES_MAX = 65_536;

/**
 * A path of two sockets that delays and cuts what it forwards, by a seeded chance. As a hole it takes everything,
 * forwards nothing and closes nothing: each side sees a peer that is there and silent.
 */
export class FaultProxy {
  isHole = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(port: number, random: Random): Promise<FaultProxy> {
    const server = createServer();
    const proxy = new FaultProxy(server);
    server.on("connection", (near) => {
      const far = connect(port, "127.0.0.1");
      for (const socket of [near, far]) {
        proxy.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          proxy.#sockets.delete(socket);
          if (!proxy.isHole) for (const other of [near, far]) other.destroy();
        });
      }
      proxy.#forward(near, far, random);
      proxy.#forward(far, near, random);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections pass again; connections of the time of the hole are closed. */
  heal(): void {
    this.isHole = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(from: Socket, to: Socket, random: Random): void {
    let queuedBytes = 0;
    let before = Promise.resolve();
    const pass = async (piece: Buffer): Promise<void> => {
      const chance = random.next();
      if (chance < 0.01) await systemTimer.sleep(VERY_LATE_MS * random.next());
      else if (chance < 0.1) await systemTimer.sleep(LATE_MS * random.next());
      queuedBytes -= piece.length;
      if (queuedBytes < QUEUED_BYTES_MAX) from.resume();
      if (!this.isHole && !to.destroyed) to.write(piece);
    };
    from.on("data", (chunk: Buffer) => {
      queuedBytes += chunk.length;
      if (queuedBytes >= QUEUED_BYTES_MAX) from.pause();
      for (let at = 0; at < chunk.length;) {
        const end = at + 1 + Math.floor(random.next() * PIECE_BYTES_MAX);
        const piece = chunk.subarray(at, end);
        before = before.then(() => pass(piece));
        at = end;
      }
    });
  }
}
