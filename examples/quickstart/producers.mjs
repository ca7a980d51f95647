// The traffic of `npm start`: producers in a process of their own. With --steady no producer rests. Usage:
// node producers.mjs pulsar://host:port [--steady]
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";

const [url = "pulsar://127.0.0.1:6650", option] = process.argv.slice(2);
const isSteady = option === "--steady";

/**
 * Producers by connection. An aware client is told to pause and for how long (PIP-385); the others know
 * nothing of throttling, as any Pulsar client of today: their messages are held by the gateway.
 */
const CONNECTIONS = [
  {
    isAware: false,
    producers: [
      // Too fast on purpose: the topic takes 1,000/s for all its producers. Between two imports it rests.
      {
        name: "bulk-import",
        topic: "public/default/orders",
        perSecond: 2_400,
        window: 1_000,
        rest: { everyMs: 100_000, fromMs: 65_000, toMs: 100_000, perSecond: 0 },
      },
      // On the connection of bulk-import, and yet not slowed down by it.
      { name: "refunds", topic: "public/default/refunds", perSecond: 50 },
    ],
  },
  {
    isAware: true,
    producers: [
      { name: "partner-feed", topic: "public/default/orders", perSecond: 600 },
      { name: "checkout", topic: "public/default/orders", perSecond: 250 },
    ],
  },
  { isAware: true, producers: [{ name: "web", topic: "public/analytics/clicks", perSecond: 170 }] },
  {
    isAware: false,
    producers: [
      // With web it asks for more than the 300/s of the group, for 20 s of each 50 s.
      {
        name: "app",
        topic: "public/analytics/views",
        perSecond: 250,
        rest: { everyMs: 50_000, fromMs: 20_000, toMs: 50_000, perSecond: 90 },
      },
      { name: "audit", topic: "public/default/audit", perSecond: 20 },
    ],
  },
];

/** Messages without a receipt: with a full window a producer skips what it cannot send. */
const WINDOW = 300;
const TICK_MS = 20;

let order = 0;
const startedAtMs = systemTimer.now();
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "disconnect"])
  process.once(signal, () => stopping.abort());

const clients = [];
const running = [];
for (const { isAware, producers } of CONNECTIONS) {
  const client = await connect(url, { throttle: isAware });
  clients.push(client);
  for (const { name, topic, window = WINDOW, ...speed } of producers) {
    const producer = await client.createProducer({ topic, name, pendingMessagesMax: window });
    running.push(publish(producer, speed, window));
  }
}
const all = CONNECTIONS.flatMap(({ isAware, producers }) => producers.map(() => isAware));
const aware = all.filter(Boolean).length;
console.log(JSON.stringify({ event: "ready", producers: all.length, aware }));
await Promise.all(running);
// The gateway drains what it has; a client does not wait for it here.
await Promise.race([
  Promise.all(clients.map((client) => client.close())),
  systemTimer.sleep(1_000),
]);
process.exit(0);

function rateAt(ageMs, { perSecond, rest }) {
  if (isSteady || rest === undefined) return perSecond;
  const phaseMs = ageMs % rest.everyMs;
  return phaseMs >= rest.fromMs && phaseMs < rest.toMs ? rest.perSecond : perSecond;
}

function nextOrder() {
  order++;
  return Buffer.from(JSON.stringify({ order, total: (order % 5_000) / 100 }));
}

/** Sends at its rate, and at that of its rest while it rests, until it is stopped. */
async function publish(producer, speed, window) {
  let due = 0;
  let at = systemTimer.now();
  while (!stopping.signal.aborted) {
    const now = systemTimer.now();
    const perSecond = rateAt(now - startedAtMs, speed);
    due = Math.min(perSecond, due + ((now - at) * perSecond) / 1_000);
    at = now;
    for (; due >= 1; due--)
      if (producer.pendingMessages < window)
        // A message that is not stored is not sent again: the traffic is only for show.
        producer.send({ data: nextOrder() }).catch(() => undefined);
    await systemTimer.sleep(TICK_MS);
  }
}
