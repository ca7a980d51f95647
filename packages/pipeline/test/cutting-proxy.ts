import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

const HOST = "127.0.0.1";

/** Stands between a client and its server, and breaks their connections on demand. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSwallowing = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    server.on("connection", (client) => proxy.#relay(client, connect(target, HOST)));
    server.listen(0, HOST);
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on requests reach the server and replies do not come back, until `cut`. */
  swallowReplies(): void {
    this.#isSwallowing = true;
  }

  /** Ends every connection; later ones work. */
  cut(): void {
    this.#isSwallowing = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #relay(client: Socket, server: Socket): void {
    const pair = [client, server];
    const end = (): void => {
      for (const socket of pair) {
        socket.destroy();
        this.#sockets.delete(socket);
      }
    };
    for (const socket of pair) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (data) => server.write(data));
    server.on("data", (data) => {
      if (!this.#isSwallowing) client.write(data);
    });
  }
}
