import { createServer } from "node:http";
import { limitHttp } from "@sluice/egress/server";
import { redisQuotaStore } from "@sluice/fleet";

// 1000 requests a minute for each user, whichever process serves them; at most 50 at once in this process.
const store = redisQuotaStore({ url: "redis://127.0.0.1:6379" });
const limit = limitHttp({
  name: "api",
  rate: "1000/min",
  store,
  concurrency: 50,
  key: (request) => request.headers["x-verified-user"]?.toString(),
  observers: [(event) => event.type === "store-lost" && console.error("quotas:", event.error)],
});

export function start(port: number = 8080): void {
  createServer((request, response) => {
    void limit(request, response, () => response.end("hello"));
  }).listen(port);
}
