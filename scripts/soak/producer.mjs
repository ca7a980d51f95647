// A Pulsar producer in a process of its own, so that kill -9 cuts its connection. It sends ids to its parent after their
// receipts have come. Usage: fork("producer.mjs", [url, topic, firstId])
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";

const TICK_MS = 50;
const PER_TICK = 5;

const [url, topic, first] = process.argv.slice(2);
let next = Number(first);
const client = await connect(url);
const producer = await client.createProducer({ topic, batching: false, sendTimeoutMs: 0 });
const stopping = new AbortController();
process.once("message", () => stopping.abort());
while (!stopping.signal.aborted) {
  const ids = Array.from({ length: PER_TICK }, () => next++);
  await Promise.all(ids.map((id) => producer.send({ data: JSON.stringify({ id }) })));
  process.send(ids);
  await systemTimer.sleep(TICK_MS);
}
await client.close();
process.disconnect();
