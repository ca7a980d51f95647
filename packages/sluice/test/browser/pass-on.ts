import { request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Asks the flow at `admin` the same. Without Host and Origin of the proxy, which the flow would refuse. */
export function passOn(admin: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { host: _, origin: __, ...headers } = asked.headers;
  const onward = request(new URL(asked.url ?? "/", admin), { method: asked.method, headers });
  onward.on("response", (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  asked.pipe(onward);
}
