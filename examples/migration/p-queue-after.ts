import { createGate } from "@sluice/egress";

const gate = createGate({ concurrency: 5, rate: "10/s", maxWaiting: 1_000_000 });
const orders = ["a-17", "a-18", "a-19"].map((id) =>
  gate.run(() => Promise.resolve(`order ${id}`), { priority: 1 }),
);

console.log(await Promise.all(orders));
