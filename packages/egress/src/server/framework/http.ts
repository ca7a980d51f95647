import type { IncomingMessage } from "node:http";
import type { InboundDecision } from "../inbound-limiter.ts";
import { InFlight } from "./in-flight.ts";
import type { HttpRequestLike, HttpResponseLike } from "./in-flight.ts";
import { createJudge } from "./request-rules.ts";
import type { LimitOptions } from "./request-rules.ts";

/**
 * Calls `next` for a request that is admitted, and answers the others. Returns whether the request was
 * admitted; a promise of it if it waits for a permit or a store.
 */
export type HttpMiddleware<R> = (
  request: R,
  response: HttpResponseLike,
  next?: (error?: unknown) => void,
) => boolean | Promise<boolean>;

/**
 * Limits the requests of a node:http server, an Express app or any other framework that passes on
 * `(request, response, next)`.
 *
 * The default key is `request.ip`, which Express fills according to its setting `trust proxy`, else
 * the address of the connection: behind a proxy that is the proxy's, and all clients have one key.
 *
 * @example
 * app.use(limitHttp({ rate: "100/min", key: (request) => request.headers["x-user"]?.toString() }));
 */
export function limitHttp<R extends HttpRequestLike = IncomingMessage>(
  options: LimitOptions<R>,
): HttpMiddleware<R> {
  const { judge, answer } = createJudge("limitHttp", options, addressOf);
  const inFlight = new InFlight();
  const apply = (
    decision: InboundDecision,
    request: R,
    response: HttpResponseLike,
    next: ((error?: unknown) => void) | undefined,
  ): boolean => {
    if (!decision.admitted) {
      const { status, headers, body } = answer(decision, request);
      response.statusCode = status;
      for (const name in headers) response.setHeader(name, headers[name] ?? "");
      response.end(body);
      return false;
    }
    const { headers, permit } = decision;
    for (const name in headers) response.setHeader(name, headers[name] ?? "");
    if (permit !== undefined && !inFlight.end(permit, request, response)) return false;
    next?.();
    return true;
  };
  return (request, response, next) => {
    const decision = judge(request, response);
    if (decision === undefined) {
      next?.();
      return true;
    }
    if (!(decision instanceof Promise)) return apply(decision, request, response, next);
    return applyLater(decision, request, response, next);
  };

  async function applyLater(
    decision: Promise<InboundDecision>,
    request: R,
    response: HttpResponseLike,
    next: ((error?: unknown) => void) | undefined,
  ): Promise<boolean> {
    try {
      return apply(await decision, request, response, next);
    } catch (error) {
      // Express 4 does not look at what a middleware returns.
      if (next === undefined) throw error;
      next(error);
      return false;
    }
  }
}

function addressOf(request: HttpRequestLike): string | undefined {
  return request.ip ?? request.socket.remoteAddress;
}
