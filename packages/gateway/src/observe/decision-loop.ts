import type { Timer } from "@sluice/core";
import type { BrokerObserver } from "./broker-event.ts";
import { DecisionWatch } from "./decision-watch.ts";
import type { WaitingSnapshot } from "./waiting.ts";

/** How often is looked while something waits: as long as a wait must last to be told. */
const LOOK_MS = 100;

export interface DecisionLoopDependencies {
  readonly timer: Timer;
  /** What waits now. */
  readonly snapshot: () => WaitingSnapshot;
  readonly observe: BrokerObserver;
}

/** Looks at what waits, and tells changes. While nothing waits it does not run. */
export class DecisionLoop {
  readonly #timer: Timer;
  readonly #snapshot: () => WaitingSnapshot;
  readonly #observe: BrokerObserver;
  readonly #watch = new DecisionWatch();
  readonly #closing = new AbortController();
  #isRunning = false;

  constructor({ timer, snapshot, observe }: DecisionLoopDependencies) {
    this.#timer = timer;
    this.#snapshot = snapshot;
    this.#observe = observe;
  }

  /** Something may wait from now on. Called often: it does nothing while the loop runs. */
  readonly poke: () => void = () => {
    if (this.#isRunning || this.#closing.signal.aborted) return;
    this.#isRunning = true;
    void this.#run();
  };

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      try {
        await this.#timer.sleep(LOOK_MS, signal);
      } catch {
        return;
      }
      const snapshot = this.#snapshot();
      for (const event of this.#watch.look(snapshot, this.#timer.now())) this.#observe(event);
      if (isEmpty(snapshot) && !this.#watch.isFollowing) break;
    }
    this.#isRunning = false;
  }
}

function isEmpty({ topics, connections }: WaitingSnapshot): boolean {
  return topics.length === 0 && connections.length === 0;
}
