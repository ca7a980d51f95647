import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { RawClient } from "./raw-client.ts";

export interface ScriptedBrokerOptions {
  readonly port?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A broker that a test plays by hand: it accepts connections and says what the test says. */
export class ScriptedBroker {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  readonly #waiting: RawClient[] = [];
  #wake: () => void = () => {};
  /** Connections so far. */
  accepted = 0;
  /** Bytes that clients have sent so far. */
  receivedBytes = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start({ port = 0, tls }: ScriptedBrokerOptions = {}): Promise<ScriptedBroker> {
    const server = tls === undefined ? createServer() : createTlsServer({ ...tls });
    const broker = new ScriptedBroker(server);
    server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) =>
      broker.#accept(socket),
    );
    server.on("tlsClientError", (_: Error, socket: Socket) => socket.destroy());
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return broker;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `pulsar://127.0.0.1:${this.port}`;
  }

  /** The next connection. */
  async connection(): Promise<RawClient> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) return next;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next connection, let in. */
  async connected(): Promise<RawClient> {
    const peer = await this.connection();
    await peer.next("connect");
    peer.send("connected", { serverVersion: "scripted", protocolVersion: 21 });
    return peer;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #accept(socket: Socket): void {
    this.accepted++;
    this.#sockets.push(socket);
    socket.on("data", (chunk: Buffer) => (this.receivedBytes += chunk.length));
    this.#waiting.push(new RawClient(socket));
    this.#wake();
  }
}
