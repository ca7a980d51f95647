import pLimit from "p-limit";

const limit = pLimit(5);
const orders = ["a-17", "a-18", "a-19"].map((id) => limit(() => Promise.resolve(`order ${id}`)));

console.log(await Promise.all(orders));
