import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { FrameDecoder } from "@sluice/pulsar/wire";

/** The yardstick: splits both directions into frames, looks at none, and passes them on. */
export async function startBareRelay(upstreamPort: number): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect(upstreamPort, "127.0.0.1");
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

function pass(from: Socket, to: Socket): void {
  const decoder = new FrameDecoder();
  from.setNoDelay(true);
  from.on("error", () => to.destroy());
  from.on("close", () => to.destroy());
  from.on("data", (chunk: Buffer) => {
    decoder.push(chunk);
    to.cork();
    for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) to.write(frame);
    to.uncork();
    if (to.writableNeedDrain) from.pause();
  });
  to.on("drain", () => from.resume());
}
