/** `npm start`, as a newcomer runs it: what it prints, what can be tried, and that Ctrl-C leaves nothing behind. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";

// The service is weak once in 100 s, for the first time after 14 s. From a fresh clone, all throttles are to be seen within 3 minutes.
vi.setConfig({ testTimeout: 180_000 });

const root = fileURLToPath(new URL("../../../", import.meta.url));
const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));

test("npm start shows five throttles, explains them, obeys a changed limit, and stops all that it started", async () => {
  const child = spawn(process.execPath, ["scripts/start.mjs"], { cwd: root });
  onTestFinished(() => void child.kill("SIGTERM"));
  const lines: string[] = [];
  const reader = createInterface(child.stdout);
  const until = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const seen = lines.find((line) => pattern.test(line));
      if (seen !== undefined) return seen;
      await once(reader, "line");
    }
  };
  reader.on("line", (line) => lines.push(line));

  const gateway = (await until(/gateway +✓/))
    .split(" ")
    .find((word) => word.startsWith("pulsar://"));
  const admin =
    (await until(/page +✓/)).split(" ").find((word) => word.startsWith("http://")) ?? "";
  await until(/traffic +✓ 7 producers, 3 aware, 4 not/);
  expect(await until(/throttled +orders topic-rate/)).toMatch(/^\d\d:\d\d:\d\d {2}▥/);

  const service = (await until(/service +✓/)).split(" ").find((word) => word.startsWith("http://"));
  await until(/told +\S/);
  await until(/throttled +in fleet-share/);
  await until(/throttled +out concurrency/);
  expect(await until(/cut +out peer-busy/)).toMatch(/said busy, the rate was cut .*to \d+\/s/);
  await until(/^Five throttles are at work now/);

  const why = sluice("why", "orders", "--admin", admin);
  expect(why.stdout).toMatch(/▥ topic-rate .*bulk-import.* to publish to/);
  expect(why.stdout).toMatch(
    /setting +gateway\.limits\.topics\."public\/default\/orders" = 1,000\/s/,
  );
  const set = ["limits", "set", "topic", "public/default/orders", "messages=50000/s"];
  expect(sluice(...set, "--admin", admin)).toMatchObject({ status: 0 });
  expect(await until(/changed +topic orders/)).toContain("to 50,000/s");
  await until(/flowing +orders topic-rate +no producer waits any more/);

  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
  for (const url of [gateway, admin, service]) expect(await connectError(url)).toBe("ECONNREFUSED");
});

test("npm start ends with the shell of npm, which passes no signal on", async () => {
  const shell = spawn("sh", ["-c", `"${process.execPath}" scripts/start.mjs; true`], { cwd: root });
  const lines = createInterface(shell.stdout);
  const seen: string[] = [];
  for await (const line of lines) {
    seen.push(line);
    if (/traffic +✓/.test(line)) shell.kill("SIGTERM");
  }
  expect(seen.at(-1)).toBe("stopped: all that was started has ended");
});

async function connectError(url: string | undefined): Promise<string | undefined> {
  const [, host = "", port = ""] = /\/\/(.+):(\d+)/.exec(url ?? "") ?? [];
  const socket = connect(Number(port), host);
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  return error.code;
}

function sluice(...args: readonly string[]): { status: number | null; stdout: string } {
  return spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });
}
