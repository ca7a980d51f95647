/** What stands between the load and the sink: `middle-child.js bare|none|limits PORT`. */
import { startGateway } from "@sluice/gateway";
import { startBareRelay } from "./bare-relay.ts";
import { serveParent } from "./child.ts";

/** High enough that no message waits. */
const NOT_HIT = { messages: 10_000_000, bytes: 10_000_000_000 };

const [kind = "none", port = "0"] = process.argv.slice(2);
serveParent(await start());

async function start(): Promise<number> {
  if (kind === "bare") return startBareRelay(Number(port));
  const limits = {
    broker: NOT_HIT,
    groups: { all: { topics: ["public/default/*"], ...NOT_HIT } },
    topicDefault: NOT_HIT,
  };
  const gateway = await startGateway({
    listen: "pulsar://127.0.0.1:0",
    upstream: `pulsar://127.0.0.1:${port}`,
    ...(kind === "limits" && { limits }),
  });
  return gateway.port;
}
