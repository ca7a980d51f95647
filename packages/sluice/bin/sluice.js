#!/usr/bin/env node
import { existsSync } from "node:fs";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (existsSync(main)) {
  const args = process.argv.slice(2);
  const { listenEarly } = await import("../dist/cli/stop-signals.js");
  listenEarly(args);
  const { runCli } = await import(main.href);
  process.exitCode = await runCli(args);
  // A client library that is still connecting must not keep the process.
  const { ifStillRunning } = await import("@sluice/core/system");
  ifStillRunning(1000, () => process.exit());
} else {
  console.error("sluice is not built yet: run npm run build");
  process.exitCode = 1;
}
