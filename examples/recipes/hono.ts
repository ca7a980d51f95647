import { limitHono } from "@sluice/egress/server";
import { Hono } from "hono";

const limit = limitHono({
  rate: "100/min",
  concurrency: 50,
  key: (c) => c.req.raw.headers.get("x-api-key") ?? undefined,
});

export const app = new Hono();
app.use(limit);
app.get("/", (c) => c.text("hello"));
