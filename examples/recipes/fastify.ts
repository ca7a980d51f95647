import { limitFastify } from "@sluice/egress/server";
import fastify from "fastify";

export const app = fastify({ trustProxy: 1 });
await app.register(limitFastify({ rate: "100/min", concurrency: 50 }));
app.get("/", () => "hello");
