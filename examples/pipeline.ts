import { blackhole, generator, pipeline } from "@sluice/pipeline";

const state = await pipeline("orders")
  .source(generator({ values: (index) => ({ order: index, total: index % 90 }), count: 1000 }))
  .map(({ value }) => (value.total < 30 ? undefined : { value: `order ${value.order}` }))
  .sink(blackhole(), { limits: { rateLimit: { max: 2000, min: 2000 } } })
  .run();

for (const { name, counts } of state.vertices)
  console.log(`${name}: ${counts.read} read, ${counts.dropped} dropped, ${counts.written} written`);
