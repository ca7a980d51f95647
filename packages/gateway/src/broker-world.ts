import type { Clock, Random, Timer } from "@sluice/core";

/** Time and chance, for tests. */
export interface BrokerWorld {
  readonly timer: Timer;
  /** May be behind by one turn of the event loop. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly random: Random;
  readonly nextTurn: () => Promise<void>;
}
