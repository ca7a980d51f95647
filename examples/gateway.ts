import { startGateway } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";

// Clients connect to the gateway; it connects each of them to the cluster.
const gateway = await startGateway({
  upstream: "pulsar://localhost:6650",
  listen: "pulsar://127.0.0.1:0",
  limits: { topics: { "public/default/orders": { messages: 1_000 } } },
});
const client = await connect(gateway.url);
const producer = await client.createProducer({ topic: "public/default/orders" });
await producer.send({ data: "tea" });
console.log(gateway.stats().producers);
await client.close();
await gateway.close();
