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
export { labelText, PrometheusText } from "./admin/observe/prometheus-text.ts";

// Events of a broker, as they are logged and streamed.
export { EventFeed } from "./observe/event-feed.ts";
export type { EventListener, TimedEvent } from "./observe/event-feed.ts";
export { describeEvent, eventJson } from "./observe/describe-event.ts";

// What waits and why, as `/api/why` answers it.
export type { Why, WhyAnswer, WhyPaused, WhySetting } from "./admin/limits/why.ts";
