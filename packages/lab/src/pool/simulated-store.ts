import type { EventLoop } from "../simulation/engine/event-loop.ts";
import type { Link, Network } from "./network.ts";

/** The store's wall clock at the start of a run: unlike the clock of any process. */
const START_MS = 1_700_000_000_000;

/** A store behind a network, with a wall clock of its own. What it keeps is up to the protocol. */
export class SimulatedStore {
  readonly #loop: EventLoop;
  readonly #network: Network;
  #steppedMs = 0;
  /** While it is down, requests that arrive are lost. */
  isDown = false;

  constructor(loop: EventLoop, network: Network) {
    this.#loop = loop;
    this.#network = network;
  }

  /** Its wall clock, which may be set. */
  get wallMs(): number {
    return START_MS + this.#steppedMs + this.#loop.now();
  }

  stepClock(byMs: number): void {
    this.#steppedMs += byMs;
  }

  /** Sends a request: `step` is executed at the store, and what it answers goes back to `onReply`. */
  call<T>(link: Link, step: () => T, onReply: (answer: T) => void = () => {}): void {
    this.#travel(link, "requestAtMs", () => {
      if (this.isDown) return;
      const answer = step();
      if (!link.isMuted) this.#travel(link, "replyAtMs", () => onReply(answer));
    });
  }

  #travel(link: Link, way: "requestAtMs" | "replyAtMs", arrive: () => void): void {
    const { wayMs, isOrdered } = this.#network;
    const takesMs = wayMs(link.random);
    if (takesMs === undefined || link.isCut) return;
    const soonestMs = this.#loop.now() + takesMs;
    const atMs = isOrdered ? Math.max(soonestMs, link[way]) : soonestMs;
    link[way] = atMs;
    this.#loop.at(atMs, () => {
      if (!link.isCut) arrive();
    });
  }
}
