import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileSink, fileSource, pipeline } from "@sluice/pipeline";

const folder = await mkdtemp(join(tmpdir(), "orders-"));
await writeFile(join(folder, "orders.ndjson"), '{"total":5}\n{"total":7}\n');

await pipeline("orders")
  .source(
    fileSource({ path: join(folder, "orders.ndjson"), checkpoint: join(folder, "checkpoint") }),
  )
  .sink(fileSink({ path: join(folder, "done.ndjson") }))
  .run();
