import type { Permit } from "@sluice/core";
import { InFlight, outcomeOf } from "./in-flight.ts";
import type { HttpRequestLike, HttpResponseLike } from "./in-flight.ts";
import { createJudge } from "./request-rules.ts";
import type { LimitOptions } from "./request-rules.ts";

export interface HonoContextLike {
  readonly req: { readonly method: string; readonly raw: Request };
  readonly env: unknown;
  res: Response;
  header(name: string, value: string): void;
}

export type HonoMiddleware<C> = (
  context: C,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/**
 * Hono middleware. On Node the default key is the address of the connection; on other runtimes,
 * which tell it each in its own way or not at all, all clients are one key unless `key` says more.
 */
export function limitHono<C extends HonoContextLike>(options: LimitOptions<C>): HonoMiddleware<C> {
  const { judge, answer } = createJudge(
    "limitHono",
    options,
    ({ env }) => nodePairOf(env)?.incoming.socket.remoteAddress,
  );
  const inFlight = new InFlight();
  return async (context, next) => {
    const pair = nodePairOf(context.env);
    const decision = await judge(context, pair?.outgoing);
    if (decision?.admitted === false) {
      const { status, headers, body } = answer(decision, context);
      return new Response(body, { status, headers });
    }
    const permit = decision?.permit;
    if (permit !== undefined && pair !== undefined)
      // A client that has gone is not served: its work would count against no limit.
      if (!inFlight.end(permit, pair.incoming, pair.outgoing)) return new Response(null);
    try {
      await next();
    } catch (error) {
      permit?.end("ignored");
      throw error;
    }
    // Only now: what a handler returns as it is would not have what was set before.
    for (const [name, value] of Object.entries(decision?.headers ?? {}))
      context.header(name, value);
    if (permit !== undefined && pair === undefined) endWithBody(permit, context);
    return undefined;
  };
}

interface NodePair {
  readonly incoming: HttpRequestLike;
  readonly outgoing: HttpResponseLike;
}

/** What @hono/node-server passes on. */
function nodePairOf(env: unknown): NodePair | undefined {
  if (typeof env !== "object" || env === null) return undefined;
  return "incoming" in env && "outgoing" in env ? (env as NodePair) : undefined;
}

/** Where there is no response but the `Response`, it is out when its body has been read. */
function endWithBody(permit: Permit, context: HonoContextLike): void {
  const { body, status } = context.res;
  // Of a HEAD the body is thrown away unread.
  if (body === null || context.req.method === "HEAD") {
    permit.end(outcomeOf(status));
    return;
  }
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const counted = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        permit.end(outcomeOf(status));
        controller.close();
      } catch (error) {
        permit.end("ignored");
        controller.error(error);
      }
    },
    cancel(reason) {
      permit.end("ignored");
      return reader.cancel(reason);
    },
  });
  context.res = new Response(counted, context.res);
}
