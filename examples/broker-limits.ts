import { startBroker } from "@sluice/gateway";

const broker = await startBroker({
  data: "memory",
  listen: "pulsar://127.0.0.1:0",
  limits: {
    topics: { "public/default/orders": { messages: 1000, bytes: 10_000_000 } },
    groups: { analytics: { topics: ["public/analytics/*"], messages: 5000 } },
    broker: { messages: 50_000 },
  },
});
const { limitBook, throttling } = broker.administered;
const orders = { level: "topic", name: "public/default/orders" } as const;
await limitBook.set(orders, { messages: 2000 });
console.log(limitBook.get(orders), throttling.waiting().topics); // topic, limiter, since, until, producers
await broker.close();
