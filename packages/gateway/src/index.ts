export { inspectData } from "./storage/inspect/inspect-data.ts";
export type {
  CursorReport,
  Damage,
  DataReport,
  SchemaReport,
  SegmentReport,
  TopicReport,
} from "./storage/inspect/data-report.ts";
export type { BrokerWorld } from "./broker-world.ts";
export { startBroker } from "./start-broker.ts";
export type { StartBrokerOptions, TokenOptions } from "./broker-options.ts";
export type { RunningBroker } from "./running-broker.ts";
export { startGateway } from "./start-gateway.ts";
export type { GatewayWorld } from "./start-gateway.ts";
export type { StartGatewayOptions, UpstreamOptions } from "./gateway-options.ts";
export type { GatewayIngress, GatewayStats, RunningGateway } from "./running-gateway.ts";
export type { LookupStyle } from "./relay/relay-context.ts";
export type { AllowedTargets } from "./upstream/target-guard.ts";
export type { FrontOptions } from "./server/front.ts";
export type { IngressSettings, ThrottleSettings } from "./ingress/settings.ts";
export type { GroupLimit } from "./ingress/limits/limit-settings.ts";
export type { LimitTarget, RateLimit } from "./ingress/limits/rate-limit.ts";
export type { WaitingProducer, WaitingTopic } from "./ingress/desk/waiting.ts";
export type { RoleOptions } from "./auth/permissions.ts";
export type { BrokerEvent, BrokerObserver, PartEvent } from "./observe/broker-event.ts";
export type { BrokerSettings } from "./topic/settings.ts";
export type { DispatchLimitSettings } from "./ingress/dispatch/dispatch-limits.ts";
export type { DispatchRate } from "./ingress/dispatch/dispatch-rate.ts";
export type { SubscribeRate, SubscribeRateSettings } from "./ingress/dispatch/subscribe-rates.ts";
export type { FleetSettings } from "./ingress/fleet/fleet-settings.ts";
export type { ConnectionLimits } from "./server/socket/connection-limits.ts";
export { ListenError } from "./server/socket/listener.ts";
export type { TlsFiles } from "./server/socket/listener.ts";
export type { ServerStats } from "./server/server.ts";
export type { SessionLimits } from "./session/limits.ts";
export type {
  AdministrableBroker,
  AdministrableGateway,
  BrokerStats,
} from "./admin/administered-broker.ts";
