import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { startBroker } from "../src/index.ts";
import type { BrokerStats, BrokerWorld, RunningBroker, StartBrokerOptions } from "../src/index.ts";

/** A broker on a free port, in memory, whose time moves only when a test says so. */
export interface TestBroker {
  readonly timer: VirtualTimer;
  readonly port: number;
  readonly stats: () => BrokerStats;
  readonly administered: RunningBroker["administered"];
  readonly ingress: RunningBroker["ingress"];
  readonly policies: RunningBroker["administered"]["policies"];
  readonly close: () => Promise<void>;
}

/** 2026, in milliseconds: tokens have dates. */
export const WALL_START_MS = 1_780_000_000_000;

export async function startTestBroker(
  options: Partial<StartBrokerOptions> = {},
): Promise<TestBroker> {
  const timer = new VirtualTimer();
  const world: BrokerWorld = {
    timer,
    clock: timer,
    wallClock: { now: () => WALL_START_MS + timer.now() },
    random: new SeededRandom(1),
    nextTurn,
  };
  const broker = await startBroker(
    { listen: "pulsar://127.0.0.1:0", data: "memory", ...options },
    world,
  );
  return {
    timer,
    port: broker.port,
    stats: () => broker.stats(),
    administered: broker.administered,
    ingress: broker.ingress,
    policies: broker.administered.policies,
    // Those who do not hang up are cut off after a second of the broker's time.
    close: () => passUntil(timer, broker.close()),
  };
}

/** Lets time pass until this has settled. */
export async function passUntil<T>(timer: VirtualTimer, promise: Promise<T>): Promise<T> {
  const seen = { hasSettled: false };
  const settle = (): void => {
    seen.hasSettled = true;
  };
  promise.then(settle, settle);
  while (!seen.hasSettled) await timer.advance(250);
  return promise;
}
