import type { Socket } from "node:net";
import type { ListenAddress } from "./listen-address.ts";
import { Listener } from "./listener.ts";
import type { ListenerOptions } from "./listener.ts";

export type DoorOptions = Omit<ListenerOptions, "onSocket">;

/** All addresses that clients connect to. They may be open before it is known where they lead. */
export class Door {
  readonly #listeners: Listener[] = [];
  readonly #options: DoorOptions;
  // Whoever is faster than the last address to listen on tries again.
  #onSocket = (socket: Socket): void => {
    socket.destroy();
  };

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** With the ports that were free where 0 was asked for. */
  get addresses(): readonly ListenAddress[] {
    return this.#listeners.map(({ address }) => address);
  }

  async open(address: ListenAddress): Promise<void> {
    const onSocket = (socket: Socket): void => this.#onSocket(socket);
    this.#listeners.push(await Listener.open(address, { ...this.#options, onSocket }));
  }

  lead(onSocket: (socket: Socket) => void): void {
    this.#onSocket = onSocket;
  }

  /** Takes no more connections. Those that are there stay; it resolves once they are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }
}
