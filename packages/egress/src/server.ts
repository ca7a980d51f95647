/** The other side of the gate: limits for requests that come in. */
export { createInboundLimiter } from "./server/inbound-limiter.ts";
export type {
  Admitted,
  InboundDecision,
  InboundLimiter,
  InboundLimiterOptions,
} from "./server/inbound-limiter.ts";
export type { InboundConcurrencyOptions, InboundLimit } from "./server/inbound-concurrency.ts";
export type { RateSetting } from "./rate-setting.ts";
export type { AnswerHeaders, InboundReason, Refused } from "./server/refusal.ts";
export type { LimitOptions, RequestRules } from "./server/request-rules.ts";
export { clientKey } from "./server/client-key.ts";

// One for each way in which servers pass requests on; none of the frameworks is needed to run it.
export { limitHttp } from "./server/http.ts";
export type { HttpMiddleware } from "./server/http.ts";
export type { ConnectionLike, HttpRequestLike, HttpResponseLike } from "./server/in-flight.ts";
export { limitFastify } from "./server/fastify.ts";
export type {
  FastifyLike,
  FastifyPlugin,
  FastifyReplyLike,
  FastifyRequestLike,
} from "./server/fastify.ts";
export { limitHono } from "./server/hono.ts";
export type { HonoContextLike, HonoMiddleware } from "./server/hono.ts";
