import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { loadFlow } from "../../flow/flow-file.ts";
import { secretsOf } from "../../flow/flow-secrets.ts";
import { flowConnectors } from "./connectors.ts";
import { GateMeters } from "../observe/gate-meters.ts";

test("a map of a flow file that never answers fails its message after 30 s, without a timeout in the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "hang.mjs"), "export default () => new Promise(() => {});");
  const timer = new VirtualTimer();
  const { signal } = new AbortController();
  const gates = new GateMeters(() => undefined);
  const connector = await flowConnectors({
    folder,
    gatewayUrl: undefined,
    gates,
    secrets: () => Promise.resolve([]),
  }).map({ kind: "module", options: { module: "./hang.mjs" } });
  const context = { name: "p/map", timer, random: new SeededRandom(1), signal, tell: () => {} };
  const mapper = await connector.open(context);
  const mapped = Promise.resolve(mapper.map([{ id: "1", value: 1, headers: {} }], { signal }));
  await timer.advance(30_000);
  expect(timer.sleeping).toBe(0);
  expect(await mapped).toMatchObject([{ isRetriable: true }]);
});

test("what a map's program writes for people shows no secret that its flow file names, in any part of it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
  for (const file of ["token", "admin", "auth", "redis"])
    writeFileSync(join(folder, file), `${secretOf(file)}\n`);
  const shown = ["env", "url", "token", "header", "admin", "auth", "redis", "store", "other"];
  const program = `console.error(...${JSON.stringify(shown.map(secretOf))}, "plain"); process.stdin.resume()`;
  const map = {
    name: "map",
    map: {
      command: [process.execPath, "-e", program],
      env: { API_TOKEN: secretOf("env"), MODE: "plain" },
    },
  };
  const generator = { name: "in", source: { generator: {} } };
  const http = {
    url: `http://127.0.0.1/?key=${secretOf("url")}`,
    headers: { authorization: `Basic ${secretOf("header")}` },
    tokenFile: "token",
  };
  const redis = { url: `redis://:${secretOf("other")}@127.0.0.1/`, stream: "s" };
  const limits = {
    rateLimit: {
      max: 1,
      store: { redisStore: { mode: "single", url: `redis://:${secretOf("store")}@127.0.0.1:1` } },
    },
  };
  const flow = loadFlow(
    JSON.stringify({
      admin: { tokenFile: "admin" },
      gateway: { auth: { tokenSecretFile: "auth" } },
      pipelines: {
        mapped: { vertices: [generator, map, { name: "out", sink: { http } }] },
        other: { limits, vertices: [generator, { name: "out", sink: { redis } }] },
        third: {
          vertices: [
            generator,
            {
              name: "out",
              sink: { redis: { url: "redis://h", stream: "s", passwordFile: "redis" } },
            },
          ],
        },
      },
    }),
    join(folder, "flow.yaml"),
  );
  const gates = new GateMeters(() => undefined);
  const block = flow.pipelines["mapped"]?.vertices[1]?.map;
  if (block === undefined) throw new Error("the flow has a map");
  const secrets = (): Promise<readonly string[]> => secretsOf(flow);
  const connector = await flowConnectors({ folder, gatewayUrl: undefined, gates, secrets }).map(
    block,
  );
  const told: string[] = [];
  const mapper = await connector.open({
    name: "p/map",
    timer: new VirtualTimer(),
    random: new SeededRandom(1),
    signal: new AbortController().signal,
    tell: ({ text }) => told.push(text),
  });
  onTestFinished(async () => {
    await mapper.close();
    rmSync(folder, { recursive: true });
  });
  await expect.poll(() => told.length, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(told.join()).toMatch(/plain$/);
  for (const of of shown) expect(told.join()).not.toContain(of);
});

/** Parts of a secret are hidden too, so no two have a part in common. */
function secretOf(of: string): string {
  return of.repeat(4);
}
