// Loaded into the process under test with --import. On SIGUSR2 it writes what keeps the event loop alive, counted by
// kind, to the file that SOAK_PROBE names.
import { renameSync, writeFileSync } from "node:fs";

process.on("SIGUSR2", () => {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  const file = process.env.SOAK_PROBE;
  writeFileSync(`${file}.new`, JSON.stringify(counts));
  renameSync(`${file}.new`, file);
});
