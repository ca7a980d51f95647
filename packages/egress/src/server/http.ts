import { InFlight } from "./in-flight.ts";
import type { HttpRequestLike, HttpResponseLike } from "./in-flight.ts";
import { createJudge } from "./request-rules.ts";
import type { LimitOptions } from "./request-rules.ts";

/** Answers whether the request was admitted; if so, `next` has been called. */
export type HttpMiddleware<R> = (
  request: R,
  response: HttpResponseLike,
  next?: () => void,
) => boolean;

/**
 * Limits the requests of a node:http server, an Express app or whatever else passes on
 * `(request, response, next)`. What it refuses it has answered.
 *
 * The default key is `request.ip`, which Express fills according to its setting `trust proxy`, else
 * the address of the connection: behind a proxy that is the proxy's, and all clients are one.
 */
export function limitHttp<R extends HttpRequestLike>(options: LimitOptions<R>): HttpMiddleware<R> {
  const judge = createJudge(options, ({ ip, socket }) => ip ?? socket.remoteAddress);
  const inFlight = new InFlight();
  return (request, response, next) => {
    const decision = judge(request);
    for (const [name, value] of Object.entries(decision?.headers ?? {}))
      response.setHeader(name, value);
    if (decision?.admitted === false) {
      response.statusCode = decision.status;
      response.end(decision.body);
      return false;
    }
    if (decision?.permit !== undefined) inFlight.end(decision.permit, request, response);
    next?.();
    return true;
  };
}
