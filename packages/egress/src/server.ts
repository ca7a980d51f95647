/** The other side of the gate: limits for requests that come in. */
export { createInboundLimiter } from "./server/inbound-limiter.ts";
export type {
  Admitted,
  InboundDecision,
  LeavingClient,
  InboundLimiter,
  LocalInboundLimiter,
} from "./server/inbound-limiter.ts";
export type { InboundLimiterOptions, OnStoreLoss } from "./server/inbound-options.ts";
export type {
  InboundConcurrencyOptions,
  InboundLimit,
} from "./server/concurrency/inbound-concurrency.ts";
export type { RateSetting } from "./rate-setting.ts";
export type { AnswerHeaders, InboundReason, Refused } from "./server/refusal.ts";
export type { InboundEvent, InboundObserver } from "./server/observe/event.ts";
export type { Answer, LimitOptions, RequestRules } from "./server/framework/request-rules.ts";
export { formatRateLimit, formatRateLimitPolicy } from "./hints/rate-limit-fields.ts";
export type { Quota, QuotaPolicy, QuotaUnit } from "./hints/rate-limit-fields.ts";
export { clientKey } from "./server/framework/client-key.ts";

// One for each way in which servers pass requests on; none of the frameworks is needed to run it.
export { limitHttp } from "./server/framework/http.ts";
export type { HttpMiddleware } from "./server/framework/http.ts";
export type {
  ConnectionLike,
  HttpRequestLike,
  HttpResponseLike,
} from "./server/framework/in-flight.ts";
export { limitFastify } from "./server/framework/fastify.ts";
export type {
  FastifyLike,
  FastifyPlugin,
  FastifyReplyLike,
  FastifyRequestLike,
} from "./server/framework/fastify.ts";
export { limitHono } from "./server/framework/hono.ts";
export type { HonoContextLike, HonoMiddleware } from "./server/framework/hono.ts";
