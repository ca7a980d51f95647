import { blackhole, generator, pipeline } from "@sluice/pipeline";

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

const running = await pipeline("orders", {
  limits: { rateLimit: { max: 800, min: 800 } }, // of every vertex, over all processes
  deadLetter: blackhole(),
})
  .source(generator({ values: (index) => ({ order: index }), count: 200 }), { name: "in" })
  .map(({ value }) => ({ value: JSON.stringify(value) }), { name: "encode" })
  .sink(blackhole(), { name: "out", limits: { concurrency: 4 } })
  .start({
    flow: "shop",
    fleet: { store: "redis://127.0.0.1:6379", maxMembers: 8 },
    signal: stop.signal,
    observe: (event) => console.log(event),
  });

await running.setLimits("out", { concurrency: 4, rateLimit: { max: 400, min: 400 } });
console.log((await running.done).status);
