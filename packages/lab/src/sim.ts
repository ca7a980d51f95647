/** Simulated services and clients, for programs that run their own: `@sluice/lab/sim`. */
export { EventLoop } from "./sim/event-loop.ts";
export type { EventLoopOptions, Scheduled } from "./sim/event-loop.ts";
export { Arrivals } from "./sim/service.ts";
export type { Answer, Service } from "./sim/service.ts";
export { TimeWeighted } from "./sim/time-weighted.ts";
export type { Distribution } from "./sim/time-weighted.ts";
export { LoadedService } from "./sim/loaded-service.ts";
export type { LoadedServiceOptions, LoadResponse } from "./sim/loaded-service.ts";
export { QueueingService } from "./sim/queueing-service.ts";
export type { QueueingServiceOptions, ServiceChange } from "./sim/queueing-service.ts";
export { runConcurrency } from "./concurrency/simulation.ts";
export type {
  LoadOptions,
  SimulationOptions,
  SimulationResult,
  Slice,
} from "./concurrency/simulation.ts";
export type { Client, RetryOptions } from "./concurrency/client.ts";
export type { RoundTrips } from "./concurrency/round-trips.ts";
export { EvenService } from "./overload/even-service.ts";
export type { BusyService } from "./overload/even-service.ts";
export { runOverload } from "./overload/simulation.ts";
export type {
  CapacityPhase,
  OverloadClient,
  OverloadOptions,
  OverloadSecond,
} from "./overload/simulation.ts";
export { PoolSimulation } from "./pool/pool-simulation.ts";
export type { PoolSimulationOptions } from "./pool/pool-simulation.ts";
export type { PoolAction, PoolEvent } from "./pool/pool-action.ts";
export { runPool } from "./pool/pool-run.ts";
export type { PoolRow, PoolRunOptions, PoolRunResult } from "./pool/pool-run.ts";
export type { Measured, PoolFigures } from "./pool/measure/pool-gauge.ts";
export { SimulatedProcess } from "./pool/simulated-process.ts";
export type { ProcessRules, ProcessWatcher } from "./pool/simulated-process.ts";
export { SluiceProtocol } from "./pool/sluice/sluice-protocol.ts";
export type { SluiceParts, StoreSteps } from "./pool/sluice/sluice-protocol.ts";
export type { Network } from "./pool/network.ts";
export { SlidingSecond } from "./pool/measure/sliding-second.ts";
export { at, joins, missedGoals, runStory, worstOf } from "./pool/churn/story.ts";
export type { ChurnFigures, ChurnGoals, ChurnPlan, ChurnStory } from "./pool/churn/story.ts";
export { CHURN_STORIES, LARGEST_POOL_STORY } from "./pool/churn/stories.ts";
