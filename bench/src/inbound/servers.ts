/** Servers that differ only in what limits their requests; none of the limits is ever reached. */
import { createServer } from "node:http";
import type { Server } from "node:http";
import fastifyRateLimit from "@fastify/rate-limit";
import { limitFastify, limitHttp } from "@sluice/egress/server";
import express from "express";
import { rateLimit } from "express-rate-limit";
import { fastify } from "fastify";
import type { FastifyInstance } from "fastify";

const PER_MINUTE = 1_000_000_000;
const OURS = { rate: { limit: PER_MINUTE, periodMs: 60_000 } };

/** Makes a server that is ready and does not listen. */
type Start = () => Promise<Server>;

/** By framework: the server without a limit, with ours, and with the peer's. */
export const SERVERS: Readonly<Record<string, Readonly<Record<"bare" | "ours" | "peer", Start>>>> =
  {
    fastify: {
      bare: () => startFastify(() => Promise.resolve()),
      ours: () => startFastify((app) => app.register(limitFastify(OURS))),
      peer: () =>
        startFastify((app) =>
          app.register(fastifyRateLimit, { max: PER_MINUTE, timeWindow: 60_000 }),
        ),
    },
    express: {
      bare: () => startExpress(undefined),
      ours: () => startExpress(limitHttp(OURS)),
      peer: () =>
        startExpress(
          rateLimit({
            windowMs: 60_000,
            limit: PER_MINUTE,
            standardHeaders: "draft-8",
            legacyHeaders: false,
          }),
        ),
    },
  };

async function startFastify(
  limit: (app: FastifyInstance) => PromiseLike<unknown>,
): Promise<Server> {
  const app = fastify();
  await limit(app);
  app.get("/", (_, reply) => reply.send("hello"));
  await app.ready();
  return app.server;
}

function startExpress(limit: unknown): Promise<Server> {
  const app = express();
  if (limit !== undefined) app.use(limit);
  app.get("/", (_, response) => response.end("hello"));
  return Promise.resolve(createServer(app));
}
