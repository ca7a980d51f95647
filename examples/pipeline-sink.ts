import { generator, pipeline } from "@sluice/pipeline";
import type { SinkConnector } from "@sluice/pipeline";

const printer: SinkConnector<number> = {
  kind: "printer",
  open: () =>
    Promise.resolve({
      write: async (messages) => {
        for (const { id, value } of messages) console.log(`${id}: ${value}`);
      },
      close: async () => console.log("closed"),
    }),
};

await pipeline("squares")
  .source(generator({ values: [1, 2, 3] }))
  .map(async ({ value }) => ({ value: value ** 2 }))
  .sink(printer)
  .run();
