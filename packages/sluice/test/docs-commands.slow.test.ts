/** The commands of the documents that ask a running gateway are run against one. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { bin, runFlow } from "./run-flow.ts";
import { blocks, commandsOf, fileNameOf } from "../../../test/docs/blocks.ts";

const execute = promisify(execFile);

/** Has every topic, group, subscription and vertex that the documents speak of. */
const FLOW = `name: shop
admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  data: memory
  limits: { topics: { orders: { messages: 1000/s, bytes: 10MB/s } } }
pipelines:
  orders:
    limits: { rateLimit: { max: 1000 } }
    vertices:
      - { name: in, source: { pulsar: { topic: orders, subscription: shop } } }
      - { name: out, sink: { blackhole: {} } }
`;

const ASKS = /^(?:npx )?sluice (?:init|why|top|limits|schema|check)\b/;
const commands = new Set(
  blocks
    .filter(({ language, notRun }) => /^(?:sh|console)$/.test(language) && notRun === undefined)
    .flatMap((block) => commandsOf(block).map(([command]) => command))
    .filter((command) => ASKS.test(command) && !command.includes("--help")),
);

test(
  "every documented question to a running gateway is answered",
  { timeout: 240_000 },
  async () => {
    const { ready, folder } = await runFlow(FLOW, {
      "admin.token": "a-token-that-no-command-needs",
    });
    const env = { ...process.env, SLUICE_ADMIN: ready.admin };
    expect(commands.size).toBeGreaterThan(5);
    for (const command of commands) {
      const args = command
        .replace(/^(?:npx )?sluice /, "")
        .replace(/ >.*$/, "")
        .split(" ");
      const { stdout } = await execute(process.execPath, [bin, ...args], { cwd: folder, env });
      expect(stdout.length, command).toBeGreaterThan(0);
    }
  },
);

test("a scenario that a page names is simulated by the commands below it", async () => {
  let ran = 0;
  for (const file of new Set(blocks.map((block) => block.file))) {
    const own = blocks.filter((block) => block.file === file);
    const folder = mkdtempSync(join(tmpdir(), "sluice-docs-"));
    for (const block of own) {
      const name = fileNameOf(block);
      if (name !== undefined) writeFileSync(join(folder, name), block.text);
      if (block.language !== "console") continue;
      for (const [command] of commandsOf(block).filter(([line]) => line.includes(" simulate "))) {
        const args = command.replace(/^(?:npx )?sluice /, "").split(" ");
        await execute(process.execPath, [bin, ...args], { cwd: folder });
        ran++;
      }
    }
    rmSync(folder, { recursive: true });
  }
  expect(ran).toBeGreaterThan(1);
});

const isWithoutCurl = spawnSync("curl", ["--version"]).error !== undefined;

test.skipIf(isWithoutCurl)(
  "the requests to the HTTP source are taken by its flow file",
  async () => {
    const page = blocks.filter(({ file }) => file === "docs/reference/connectors-http-pulsar.md");
    const address = `127.0.0.1:${await freePort()}`;
    const addressed = (text: string): string => text.replaceAll("127.0.0.1:8080", address);
    const flow = page.find(({ text }) => text.includes("source: { http:"))?.text ?? "";
    const { folder } = await runFlow(addressed(`admin: { listen: 127.0.0.1:0 }\n${flow}`));
    writeFileSync(join(folder, "orders.ndjson"), '{"item":"milk"}\n{"item":"sugar"}\n');
    const requests = page
      .filter(({ language }) => language === "sh")
      .flatMap((block) => commandsOf(block).map(([command]) => addressed(command)));
    expect(requests.length).toBeGreaterThan(1);
    for (const request of requests) await execute("sh", ["-c", `${request} -sf`], { cwd: folder });
    const taken = readFileSync(join(folder, "taken.ndjson"), "utf8");
    expect([...taken.matchAll(/tea|milk|sugar/g)].map(String)).toEqual(["tea", "milk", "sugar"]);
  },
);
