import Bottleneck from "bottleneck";

const limiter = new Bottleneck({ maxConcurrent: 5, minTime: 100 });
const order = limiter.wrap((id: string) => Promise.resolve(`order ${id}`));

console.log(await Promise.all(["a-17", "a-18", "a-19"].map((id) => order(id))));
