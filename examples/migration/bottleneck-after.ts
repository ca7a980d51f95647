import { createGate } from "@sluice/egress";

const gate = createGate({ concurrency: 5, rate: "10/s", maxWaiting: 1_000_000 });
const order = gate.wrap((id: string) => Promise.resolve(`order ${id}`));

console.log(await Promise.all(["a-17", "a-18", "a-19"].map((id) => order(id))));
