import type { InboundDecision } from "../inbound-limiter.ts";
import type { AnswerHeaders } from "../refusal.ts";
import { InFlight } from "./in-flight.ts";
import type { HttpRequestLike, HttpResponseLike } from "./in-flight.ts";
import { createJudge } from "./request-rules.ts";
import type { LimitOptions } from "./request-rules.ts";

export interface FastifyRequestLike {
  readonly ip: string;
  readonly raw: HttpRequestLike;
}

export interface FastifyReplyLike {
  readonly raw: HttpResponseLike;
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  headers(values: AnswerHeaders): unknown;
  send(body: string): unknown;
}

/** Fastify keeps names in lower case. To turn a name into them at each request costs more than the decision. */
const LOWER_CASE: ReadonlyMap<string, string> = new Map(
  ["RateLimit-Policy", "RateLimit"].map((name) => [name, name.toLowerCase()]),
);

type Done = (error?: Error) => void;

export interface FastifyLike<R> {
  addHook(
    name: "onRequest",
    hook: (request: R, reply: FastifyReplyLike, done: Done) => void,
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
  const { judge, answer } = createJudge("limitFastify", options, ({ ip }) => ip);
  // Fastify's onResponse never comes for a client that has gone: the raw response is listened to.
  const inFlight = new InFlight();
  const apply = (
    decision: InboundDecision,
    request: R,
    reply: FastifyReplyLike,
    done: Done,
  ): void => {
    if (!decision.admitted) {
      const { status, headers, body } = answer(decision, request);
      reply.headers(headers);
      reply.code(status);
      reply.send(body);
      return;
    }
    const { headers } = decision;
    for (const name in headers) reply.header(LOWER_CASE.get(name) ?? name, headers[name] ?? "");
    const { permit } = decision;
    // Without `done` the request of a client that has gone ends here.
    if (permit !== undefined && !inFlight.end(permit, request.raw, reply.raw)) return;
    done();
  };
  const applyLater = async (
    decision: Promise<InboundDecision>,
    request: R,
    reply: FastifyReplyLike,
    done: Done,
  ): Promise<void> => {
    try {
      apply(await decision, request, reply, done);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const plugin: FastifyPlugin<R> = (app, _, registered) => {
    app.addHook("onRequest", (request, reply, done) => {
      const decision = judge(request, reply.raw);
      if (decision === undefined) done();
      else if (!(decision instanceof Promise)) apply(decision, request, reply, done);
      else void applyLater(decision, request, reply, done);
    });
    registered();
  };
  // Without it the hook would hold only within the plugin itself.
  return Object.assign(plugin, {
    [Symbol.for("skip-override")]: true,
    [Symbol.for("fastify.display-name")]: "sluice-limit",
  });
}
