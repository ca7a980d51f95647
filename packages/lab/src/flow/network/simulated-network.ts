import type { Dial } from "@sluice/pulsar";
import type { VirtualTime } from "../../simulation/engine/virtual-time.ts";
import { ClientEnd } from "./client-end.ts";
import { ServerEnd } from "./server-end.ts";
import type { WireTap } from "./wire-tap.ts";

export interface NetworkOptions {
  readonly time: VirtualTime;
  /** From a byte's departure to the arrival of its answer. */
  readonly rttMs: number;
  readonly accept: (socket: ServerEnd) => void;
}

/** Connections of clients to one server, with a delay and without a limit of bandwidth. */
export class SimulatedNetwork {
  readonly #options: NetworkOptions;
  #connections = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** How one client connects. `onOpen` is told of every connection and answers its tap. */
  dialing(onOpen: (server: ServerEnd, cut: () => void) => WireTap): Dial {
    return async (_, signal) => {
      const { time, rttMs, accept } = this.#options;
      await time.sleep(rttMs, signal);
      const oneWayMs = rttMs / 2;
      const server = new ServerEnd(time, { oneWayMs, index: this.#connections++ });
      const tap = onOpen(server, () => client.close());
      const client = new ClientEnd(time, { oneWayMs, server, tap });
      server.client = client;
      accept(server);
      return client;
    };
  }
}
