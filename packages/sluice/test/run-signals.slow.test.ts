/** Signals in the phases of `sluice run` in which one could be lost, or could take too much along. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { ended } from "./ended.ts";
import { runFlow, until } from "./run-flow.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));

const HELD = `pipelines:
  p:
    drain: 2s
    vertices:
      - { name: in, source: { generator: { rate: 100/s } } }
      - { name: out, sink: { blackhole: {} }, limits: { rateLimit: { max: 1 } } }
`;

const MAPPED = `pipelines:
  p:
    vertices:
      - { name: in, source: { generator: { rate: 10/s } } }
      - { name: mapped, map: { module: ./map.mjs } }
      - { name: out, sink: { blackhole: {} } }
`;

test.skipIf(process.platform === "win32")(
  "SIGHUP during a drain does not end the process before its messages are given back",
  async () => {
    const { child, log } = await runFlow(HELD);
    const hasTold = (kind: string) => () => log.some((line) => line.includes(kind));
    const all = (): string => log.join("\n");
    await until(hasTold("vertex-throttled"), all);
    child.kill("SIGTERM");
    await until(hasTold("pipeline-draining"), all);
    child.kill("SIGHUP");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(all()).toContain("pipeline-stopped");
  },
);

test.skipIf(process.platform === "win32")(
  "a signal before sluice run has loaded its modules ends it with 0, and SIGHUP does not end it",
  async () => {
    // Sends each signal once, if something listens for it before the parser of the command line has loaded child_process.
    const eager = `for (const signal of ["SIGTERM", "SIGHUP"]) {
      const send = (name) => {
        if (name !== signal || process.moduleLoadList.includes("NativeModule child_process")) return;
        process.off("newListener", send);
        void Promise.resolve().then(() => process.kill(process.pid, signal));
      };
      process.on("newListener", send);
    }`;
    const child = spawn(process.execPath, [
      "--import",
      `data:text/javascript,${encodeURIComponent(eager)}`,
      bin,
      "run",
      "nowhere.yaml",
    ]);
    onTestFinished(() => ended(child));
    // Without a signal the missing flow file ends it with 2.
    expect(await once(child, "exit")).toEqual([0, null]);
  },
);

test("a stop does not wait for a changed map module that never ends loading", async () => {
  const { child, folder, log } = await runFlow(MAPPED, {
    "map.mjs": "export default ({ value }) => ({ value });",
  });
  // The watch of modules looks once a second, and takes the first content for the known one.
  await systemTimer.sleep(1_500);
  // It tells that it loads by its thread's standard error, which is that of the process.
  const hanging = `import { createServer } from "node:net";
createServer().listen(0, "127.0.0.1");
console.error("it loads");
await new Promise(() => {});`;
  writeFileSync(join(folder, "map.mjs"), hanging);
  await until(
    () => log.some((line) => line.includes("it loads")),
    () => log.join("\n"),
  );
  const startMs = systemTimer.now();
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  // 30 s, after which a thread is given up by itself.
  expect(systemTimer.now() - startMs).toBeLessThan(10_000);
  expect(log.join("\n")).not.toContain("flow-rejected");
});
