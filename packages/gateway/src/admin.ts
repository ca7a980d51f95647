/** Administration of a broker over HTTP: Pulsar's own paths, state, events and metrics. */
export { startAdmin } from "./admin/start-admin.ts";
export type { AdminWorld, RunningAdmin, StartAdminOptions } from "./admin/start-admin.ts";
export type { HttpLimits } from "./admin/http/http-limits.ts";

// Routes that others add.
export { bareText, DONE, json, UNSET } from "./admin/http/answer.ts";
export type { Answer } from "./admin/http/answer.ts";
export { HttpError } from "./admin/http/http-error.ts";
export type { AdminRequest } from "./admin/http/request.ts";
export type { Handler, Method, Route, RouteAccess } from "./admin/http/router.ts";

// What other parts of the process add.
export type { AdminAddition } from "./admin/admin-addition.ts";

// Metrics of the process, for `/metrics` and other formats.
export { processMetrics } from "./admin/observe/process-metrics.ts";
export type { CollectMetrics, MeteredProcess } from "./admin/observe/process-metrics.ts";
export type { Labels, Metric, MetricName, MetricsWriter } from "./admin/observe/metrics-writer.ts";
export { Histogram } from "./admin/observe/histogram.ts";
export type { HistogramCounts } from "./admin/observe/histogram.ts";
export { PrometheusText } from "./admin/observe/prometheus-text.ts";

// Events of a broker, as they are logged and streamed.
export { EventFeed } from "./observe/event-feed.ts";
export type { EventListener, TimedEvent } from "./observe/event-feed.ts";
export { describeEvent, eventJson } from "./observe/describe-event.ts";

// What waits and why, as `/api/why` answers it.
export { gatewayWhy, topicSetting } from "./admin/limits/gateway-why.ts";
export type { FlowingProducer, Why, WhyAnswer, WhyPaused, WhySetting } from "./admin/limits/why.ts";

// What the dashboard reads.
export type {
  AdministeredGateway,
  AdministrableGateway,
  BrokerStats,
  Throttling,
} from "./admin/administered-broker.ts";
export { embeddedOf } from "./admin/observe/observed-gateway.ts";
export type {
  PublishingFlow,
  PublishingNotices,
  PublishingProducer,
  PublishingWatch,
} from "./observe/publishing.ts";
export type { RateParts, WaitingSnapshot } from "./observe/waiting.ts";
