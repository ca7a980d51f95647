import { limitFastify } from "@sluice/egress/server";
import fastify from "fastify";

// The addresses of the proxies before this server: the key is the client's address.
export const app = fastify({ trustProxy: "127.0.0.1" });
await app.register(limitFastify({ rate: "100/min", concurrency: 50 }));
app.get("/", () => "hello");
