// Talks to a broker as no client should, over real sockets, beside a client that behaves. It runs what is built.
// usage: node fuzz.mjs [--frames N] [--seed N]
import { once } from "node:events";
import { connect as openSocket } from "node:net";
import { parseArgs } from "node:util";
import { SeededRandom } from "@sluice/core";
import { systemClock, systemTimer } from "@sluice/core/system";
import { startBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";
import { encodeFrame } from "@sluice/pulsar/wire";
import { goldenFrames, mutated } from "../../pulsar/test/mutated.mjs";

/** Frames on one connection, unless it is ended before. */
const FRAMES_PER_CONNECTION = 60;
const CONNECTIONS_AT_ONCE = 20;
const GOODBYE_MS = 2_000;

const { values } = parseArgs({
  options: {
    frames: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
  },
});
const random = new SeededRandom(Number(values.seed));
const valid = goldenFrames()
  .filter(({ from, command }) => from.includes("client") && command !== "CONNECT")
  .map(({ bytes }) => bytes);
const greeting = encodeFrame({
  kind: "connect",
  body: { clientVersion: "fuzz", protocolVersion: 21 },
});
const result = {
  frames: 0,
  connections: 0,
  faults: [],
  slowestMs: 0,
  quietMs: 0,
  trips: 0,
  rssGrowthBytes: 0,
};

const broker = await startBroker({
  listen: "pulsar://127.0.0.1:0",
  data: "memory",
  broker: { limits: { topicsMax: 1_000 } },
  observe: (event) => {
    if (event.kind === "error") result.faults.push(String(event.error));
  },
});
const client = await connect(broker.url);
const producer = await client.createProducer({ topic: "honest" });
const consumer = await client.subscribe({ topic: "honest", subscription: "honest" });

for (let warmUp = 0; warmUp < 40; warmUp++)
  await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, talk));
await honestRoundTrip();
result.slowestMs = 0;
const rssBefore = settledRss();
result.frames = 0;
for (let trip = 0; trip < 50; trip++) await honestRoundTrip();
result.quietMs = result.slowestMs;
result.slowestMs = 0;
while (result.frames < Number(values.frames)) {
  const talking = new AbortController();
  const talks = Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, talk)).finally(() =>
    talking.abort(),
  );
  // While the others talk, not after them.
  do {
    await honestRoundTrip();
    result.trips++;
  } while (!talking.signal.aborted);
  await talks;
}
result.rssGrowthBytes = Math.max(0, settledRss() - rssBefore);
await client.close();
await broker.close();
process.stdout.write(`${JSON.stringify(result)}\n`);

/** One connection: a greeting, then frames of which every third is damaged. */
async function talk() {
  const socket = openSocket(broker.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.resume();
  const ended = once(socket, "close");
  await Promise.race([once(socket, "connect"), ended]);
  const frames = [greeting];
  for (let count = 0; count < FRAMES_PER_CONNECTION; count++)
    frames.push(
      random.next() < 1 / 3
        ? mutated(random, valid)
        : valid[Math.floor(random.next() * valid.length)],
    );
  result.frames += frames.length;
  result.connections++;
  socket.end(Buffer.concat(frames));
  await Promise.race([ended, systemTimer.sleep(GOODBYE_MS)]);
  socket.destroy();
}

/** Publishes, receives and acknowledges one message. */
async function honestRoundTrip() {
  const startedAtMs = systemClock.now();
  await producer.send({ data: "are you there?" });
  await consumer.ack(await consumer.receive());
  result.slowestMs = Math.max(result.slowestMs, systemClock.now() - startedAtMs);
}

function settledRss() {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
