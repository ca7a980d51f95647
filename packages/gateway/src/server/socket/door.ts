import type { Socket } from "node:net";
import type { ListenAddress } from "./listen-address.ts";
import { Listener } from "./listener.ts";
import type { ListenerOptions } from "./listener.ts";

export type DoorOptions = Omit<ListenerOptions, "onSocket" | "onRefused">;

/** What takes the connections of all addresses. */
export interface Doorkeeper {
  accept(socket: Socket): void;
  refuse(socket: Socket, reason: string): void;
}

/** All addresses that clients connect to. They may be open before the server that takes them. */
export class Door {
  readonly #listeners: Listener[] = [];
  readonly #options: DoorOptions;
  /** Undefined until all addresses are open; clients that come before try again. */
  #keeper: Doorkeeper | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** With the ports that were free where 0 was asked for. */
  get addresses(): readonly ListenAddress[] {
    return this.#listeners.map(({ address }) => address);
  }

  async open(address: ListenAddress): Promise<void> {
    const onSocket = (socket: Socket): void => {
      if (this.#keeper === undefined) socket.destroy();
      else this.#keeper.accept(socket);
    };
    const onRefused = (socket: Socket, reason: string): void => {
      if (this.#keeper === undefined) socket.destroy();
      else this.#keeper.refuse(socket, reason);
    };
    const options = { ...this.#options, onSocket, onRefused };
    this.#listeners.push(await Listener.open(address, options));
  }

  lead(keeper: Doorkeeper): void {
    this.#keeper = keeper;
  }

  /** Takes no more connections. Those that are there stay; it resolves once they are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }
}
