import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generator, pipeline } from "@sluice/pipeline";
import type { SinkConnector } from "@sluice/pipeline";

const lines = (path: string): SinkConnector<number> => ({
  kind: "lines",
  open: async () => {
    const file = await open(path, "a");
    return {
      write: async (messages) => {
        await file.appendFile(messages.map(({ value }) => `${value}\n`).join(""));
        await file.sync();
      },
      close: () => file.close(),
    };
  },
});

await pipeline("squares")
  .source(generator({ values: [1, 2, 3] }))
  .map(({ value }) => ({ value: value ** 2 }))
  .sink(lines(join(tmpdir(), "squares.txt")))
  .run();
