/** `sluice limits` and `sluice why` against a gateway in a process of its own. */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { runCli } from "../src/cli/main.ts";
import { ended } from "./ended.ts";

const bin = fileURLToPath(new URL("../bin/sluice.js", import.meta.url));
const TOKEN = "a-token-for-tests";
const FLOW = `
admin: { listen: 127.0.0.1:0, tokenFile: ./token }
gateway:
  listen: pulsar://127.0.0.1:0
  data: memory
  limits:
    broker: { messages: 50000/s, bytes: 200MB/s }
    topics: { orders: { messages: 1000/s } }
    dispatch: { subscriptions: { orders: { billing: { messages: 50/s } } } }
`;

let folder = "";
let admin = "";
let gateway: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-limits-"));
  writeFileSync(join(folder, "token"), TOKEN);
  writeFileSync(join(folder, "flow.yaml"), FLOW);
  gateway = spawn(process.execPath, [bin, "run", "flow.yaml", "--json"], { cwd: folder });
  const [line] = (await once(createInterface(gateway.stdout ?? process.stdin), "line")) as [string];
  ({ admin } = JSON.parse(line) as { readonly admin: string });
});
afterAll(async () => {
  await ended(gateway);
  rmSync(folder, { recursive: true });
});

function sluice(...args: readonly string[]): {
  status: number | null;
  stdout: string;
  stderr: string;
} {
  const env = { ...process.env, SLUICE_ADMIN: admin };
  return spawnSync(process.execPath, [bin, ...args], { cwd: folder, env, encoding: "utf8" });
}

test("limits are printed, set and given back, each with what was before", () => {
  const token = ["--token-file", "token"];
  expect(sluice("limits", "get", ...token).stdout.split("\n")).toEqual([
    "limit of                                                is                     set by",
    "broker                                                  50,000/s and 200 MB/s  flow.yaml:7",
    "topic public/default/orders                             1,000/s                flow.yaml:8",
    "dispatch subscription billing of public/default/orders  50/s                   flow.yaml:9",
    "",
  ]);
  const topic = ["topic", "public/default/orders"];
  expect(sluice("limits", "set", ...topic, "messages=3300/s", ...token)).toMatchObject({
    status: 0,
    stdout: "the limit of topic public/default/orders is now 3,300/s; it was 1,000/s\n",
  });
  const { stdout } = sluice("limits", "get", "topic", "orders", "--json", ...token);
  expect(JSON.parse(stdout)).toMatchObject({ messages: 3_300, bytes: null, source: "policy" });
  expect(sluice("limits", "unset", ...topic, ...token).stdout).toBe(
    "the limit of topic public/default/orders is now 1,000/s; it was 3,300/s\n",
  );
  expect(sluice("limits", "unset", ...topic, ...token)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/in the flow file/) as string,
  });
  expect(sluice("why", "orders", ...token)).toMatchObject({
    status: 0,
    stdout: "Nothing waits at orders.\n",
  });
  expect(JSON.parse(sluice("why", "--json", ...token).stdout)).toMatchObject({ waiting: [] });
});

test("limits of deliveries and of SUBSCRIBE are changed; of what has none, it is said", () => {
  const token = ["--token-file", "token"];
  const billing = ["dispatch", "subscription", "orders", "billing"];
  expect(sluice("limits", "set", ...billing, "messages=5/s", ...token).stdout).toBe(
    "the limit of dispatch subscription orders billing is now 5/s; it was 50/s\n",
  );
  expect(sluice("limits", "set", "subscribe", "default", "subscribes=10/1m", ...token).stdout).toBe(
    "the limit of subscribe default is now 10 in 1 min 0 s, each consumer; it was no limit\n",
  );
  expect(sluice("limits", "set", "dispatch", "group", "a", "messages=5/s", ...token)).toMatchObject(
    {
      status: 1,
      stderr: expect.stringMatching(/a group has no limit of deliveries; set one for/) as string,
    },
  );
});

test("a wrong token is told as refused, and not as missing", () => {
  const file = join(folder, "wrong.token");
  writeFileSync(file, "not-the-token-of-this-gateway");
  expect(sluice("limits", "get", "--token-file", file)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/refuses the token of --token-file: .*not valid/) as string,
  });
});

test("a wrong token file and a gateway that is not there are said with the way out", () => {
  expect(sluice("limits", "get")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/needs a token.*--token-file/) as string,
  });
  expect(sluice("why", "--admin", "127.0.0.1:1")).toMatchObject({
    status: 1,
    stderr:
      "no gateway answers at http://127.0.0.1:1; start one with sluice run, or give --admin\n",
  });
});

test.each([
  [
    ["set", "topic", "orders", "messages=100/min"],
    /messages=100\/min is wrong; expected a whole number of messages per second, such as 1\/s or 2\/s/,
  ],
  [
    ["set", "topic", "messages=1/s"],
    /"topic" has no names after topic and needs 1 name; expected broker, default, group NAME/,
  ],
  [
    ["set", "tpic", "orders", "messages=1/s"],
    /"tpic orders" is not something that a limit is set for; expected broker, default, group NAME/,
  ],
  [["set", "broker"], /no rate is given/],
  [["set", "dispatch", "subscription", "orders"], /expected dispatch broker, default/],
  [["set", "subscribe", "default", "subscribes=ten"], /expected subscribes=10\/30s/],
  [["set", "subscribe", "default", "messages=1/s"], /expected subscribes=10\/30s/],
  [["set", "broker", "rate=1/s"], /rate=1\/s is not known/],
  [
    ["set", "broker", "unlimited", "bytes=1MB/s"],
    /unlimited is not known; expected .* or unlimited alone/,
  ],
  [["set"], /missing required argument/],
  [["frob"], /unknown command/],
])("sluice limits %j is wrong usage", async (args, message) => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  expect(await runCli(["limits", ...args])).toBe(2);
  expect(written.join("")).toMatch(message);
});
