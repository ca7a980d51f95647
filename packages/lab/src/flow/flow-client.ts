import type { Random } from "@sluice/core";
import { connect } from "@sluice/pulsar";
import type { Client, Producer } from "@sluice/pulsar";
import type { VirtualTime } from "../simulation/engine/virtual-time.ts";
import type { ServerEnd } from "./network/server-end.ts";
import type { SimulatedNetwork } from "./network/simulated-network.ts";
import { ThrottleTap } from "./network/throttle-tap.ts";
import type { TapListener } from "./network/throttle-tap.ts";
import type { ProducerPlan } from "./producer-plan.ts";

export interface ClientWorld {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: SimulatedNetwork;
  readonly tap: TapListener;
  /** Whether a producer gets no throttle commands to see. */
  readonly isDeaf: (producer: string) => boolean;
}

export const SERVICE_URL = "pulsar://gateway:6650";

/** Of the wall clock at the start of a run: 2026. */
export const WALL_START_MS = 1_780_000_000_000;

/** One client process: its connection, and the producers that share it. */
export class FlowClient {
  readonly name: string;
  readonly #world: ClientWorld;
  /** Every connection that the client made; after a loss it makes another. */
  readonly #sockets: ServerEnd[] = [];
  #cut: () => void = () => undefined;
  #isGone = false;

  constructor(name: string, world: ClientWorld) {
    this.name = name;
    this.#world = world;
  }

  get pausedMs(): number {
    return this.#sockets.reduce((sum, { pausedMs }) => sum + pausedMs, 0);
  }

  get isPaused(): boolean {
    return this.#sockets.at(-1)?.isPaused ?? false;
  }

  /** The client's address as the server sees it. */
  get address(): string {
    const { remoteAddress = "", remotePort = 0 } = this.#sockets.at(-1) ?? {};
    return `${remoteAddress}:${remotePort}`;
  }

  /** Connects and opens a producer for each plan. */
  async open(plans: readonly ProducerPlan[]): Promise<readonly Producer[]> {
    const { time, random } = this.#world;
    const client = await connect(SERVICE_URL, {
      throttle: plans.some(({ isAware }) => isAware),
      dependencies: {
        timer: time,
        wallClock: { now: () => WALL_START_MS + time.now() },
        random,
        dial: this.#dial(),
      },
    });
    const producers: Producer[] = [];
    for (const plan of plans) producers.push(await openProducer(client, plan));
    return producers;
  }

  /** The process ends without a goodbye, as if it were killed. */
  kill(): void {
    this.#isGone = true;
    this.#cut();
  }

  #dial(): ReturnType<SimulatedNetwork["dialing"]> {
    const { network, tap, isDeaf } = this.#world;
    const dial = network.dialing((server, cut) => {
      this.#sockets.push(server);
      this.#cut = cut;
      return new ThrottleTap(tap, isDeaf);
    });
    // A killed process would not connect again; its simulated client is not stopped otherwise.
    return (endpoint, signal) =>
      this.#isGone ? new Promise(() => undefined) : dial(endpoint, signal);
  }
}

function openProducer(client: Client, plan: ProducerPlan): Promise<Producer> {
  const { id, topic, batch, sendTimeoutMs, maxPending } = plan;
  return client.createProducer({
    topic,
    name: id,
    sendTimeoutMs,
    pendingMessagesMax: maxPending,
    pendingBytesMax: Number.MAX_SAFE_INTEGER,
    ...(batch > 1 && { batching: { messagesMax: batch, bytesMax: 2 ** 31 - 1 } }),
  });
}
