import { createServer } from "node:http";
import { limitHttp } from "@sluice/egress/server";

// 100 requests a minute for each client, and at most 50 of all clients at once.
const limit = limitHttp({ rate: "100/min", concurrency: 50 });

export function start(port: number = 8080): void {
  const server = createServer((request, response) => {
    void limit(request, response, () => response.end("hello"));
  });
  server.listen(port);
}
