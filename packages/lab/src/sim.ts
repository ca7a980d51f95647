/** `@sluice/lab/sim`: the parts of the simulations, for programs of your own. */
export { EventLoop } from "./simulation/engine/event-loop.ts";
export type { EventLoopOptions, Scheduled } from "./simulation/engine/event-loop.ts";
export { Arrivals } from "./simulation/services/service.ts";
export type { Answer, Service } from "./simulation/services/service.ts";
export { TimeWeighted } from "./simulation/engine/time-weighted.ts";
export type { Distribution } from "./simulation/engine/time-weighted.ts";
export { FaultyService } from "./simulation/services/faulty-service.ts";
export type { Downtime, Faults } from "./simulation/services/faulty-service.ts";
export { LoadedService } from "./simulation/services/loaded-service.ts";
export type { LoadedServiceOptions, LoadResponse } from "./simulation/services/loaded-service.ts";
export { QueueingService } from "./simulation/services/queueing-service.ts";
export type {
  QueueingServiceOptions,
  ServiceChange,
} from "./simulation/services/queueing-service.ts";
export { runConcurrency } from "./simulation/concurrency/run-concurrency.ts";
export type {
  LoadOptions,
  SimulationOptions,
  SimulationResult,
  Slice,
} from "./simulation/concurrency/run-concurrency.ts";
export type { Client, RetryOptions } from "./simulation/concurrency/client.ts";
export type { Quantiles } from "./simulation/engine/quantiles.ts";
export { EvenService } from "./simulation/services/even-service.ts";
export type { BusyService } from "./simulation/services/even-service.ts";
export { runOverload } from "./simulation/overload/run-overload.ts";
export type {
  CapacityPhase,
  OverloadClient,
  OverloadOptions,
  OverloadSecond,
} from "./simulation/overload/run-overload.ts";
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
export { SlidingSecond } from "./simulation/engine/sliding-second.ts";
export { at, joins, missedGoals, runStory, worstOf } from "./pool/churn/story.ts";
export type { ChurnFigures, ChurnGoals, ChurnPlan, ChurnStory } from "./pool/churn/story.ts";
export { CHURN_STORIES, LARGEST_POOL_STORY } from "./pool/churn/stories.ts";
export { VirtualTime } from "./simulation/engine/virtual-time.ts";
export { runFlow } from "./flow/run-flow.ts";
export type { FlowResult } from "./flow/run-flow.ts";
export type { FlowAction, FlowEvent, FlowPlan, LimitsChange } from "./flow/flow-plan.ts";
export type { ProducerPlan } from "./flow/producer-plan.ts";
