import PQueue from "p-queue";

const queue = new PQueue({ concurrency: 5, intervalCap: 10, interval: 1000 });
const orders = ["a-17", "a-18", "a-19"].map((id) =>
  queue.add(() => Promise.resolve(`order ${id}`), { priority: 1 }),
);

console.log(await Promise.all(orders));
