import { InFlight } from "./in-flight.ts";
import type { HttpRequestLike, HttpResponseLike } from "./in-flight.ts";
import type { AnswerHeaders } from "./refusal.ts";
import { createJudge } from "./request-rules.ts";
import type { LimitOptions } from "./request-rules.ts";

export interface FastifyRequestLike {
  readonly ip: string;
  readonly raw: HttpRequestLike;
}

export interface FastifyReplyLike {
  readonly raw: HttpResponseLike;
  code(status: number): unknown;
  headers(values: AnswerHeaders): unknown;
  send(body: string): unknown;
}

export interface FastifyLike<R> {
  addHook(
    name: "onRequest",
    hook: (request: R, reply: FastifyReplyLike, done: () => void) => void,
  ): unknown;
}

/** What `register` takes. */
export type FastifyPlugin<R> = (app: FastifyLike<R>, options: unknown, done: () => void) => void;

/**
 * A Fastify plugin that limits every request of the instance it is registered with, and of those
 * within it, also the ones that match no route. The default key is `request.ip`, which Fastify
 * fills according to its setting `trustProxy`.
 */
export function limitFastify<R extends FastifyRequestLike>(
  options: LimitOptions<R>,
): FastifyPlugin<R> {
  const judge = createJudge(options, ({ ip }) => ip);
  const inFlight = new InFlight();
  const plugin: FastifyPlugin<R> = (app, _, registered) => {
    // Fastify's onResponse never comes for a client that has gone: the raw response is listened to.
    app.addHook("onRequest", (request, reply, done) => {
      const decision = judge(request);
      if (decision !== undefined) reply.headers(decision.headers);
      if (decision?.admitted === false) {
        reply.code(decision.status);
        reply.send(decision.body);
        return;
      }
      if (decision?.permit !== undefined) inFlight.end(decision.permit, request.raw, reply.raw);
      done();
    });
    registered();
  };
  // Without it the hook would hold only within the plugin itself.
  return Object.assign(plugin, {
    [Symbol.for("skip-override")]: true,
    [Symbol.for("fastify.display-name")]: "sluice-limit",
  });
}
