export { inspectData } from "./storage/inspect/inspect-data.ts";
export type {
  CursorReport,
  Damage,
  DataReport,
  SchemaReport,
  SegmentReport,
  TopicReport,
} from "./storage/inspect/data-report.ts";
export { startBroker } from "./start-broker.ts";
export type {
  BrokerWorld,
  RunningBroker,
  StartBrokerOptions,
  TokenOptions,
} from "./start-broker.ts";
export type { RoleOptions } from "./auth/permissions.ts";
export type { BrokerEvent, BrokerObserver } from "./observe/broker-event.ts";
export type { BrokerSettings } from "./topic/settings.ts";
export type { ConnectionLimits } from "./server/connection-limits.ts";
export { ListenError } from "./server/listener.ts";
export type { TlsFiles } from "./server/listener.ts";
export type { ServerStats } from "./server/server.ts";
export type { SessionLimits } from "./session/limits.ts";
export type { AdministrableBroker, BrokerStats } from "./admin/administered-broker.ts";
