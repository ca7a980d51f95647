/**
 * `sluice why` in eleven staged situations, one for each reason of the design, with real brokers, services and a
 * real Redis: the cause, the setting with its line, and the time left.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { startAdmin } from "@sluice/gateway/admin";
import { expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath } from "../../fleet/test/redis-server.ts";
import { servedFlow } from "../src/cli/flow/run-flow.ts";
import { whyLines } from "../src/why/why-lines.ts";
import type { WholeWhy } from "../src/why/why-lines.ts";
import { flood, HANGING, REASON_STAGES } from "./stages/reason-stages.ts";
import type { ReasonStage, StagedReason } from "./stages/reason-stages.ts";

/** For the end of a stage on a busy machine. */
const HOOK_MS = 40_000;

interface Stage {
  readonly gateway: string;
  /** What `sluice why` prints once it says `reason`, in one line. */
  readonly why: (reason: string) => Promise<string>;
}

/** Runs a flow file with its administration until the end of the test. */
async function run(text: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-why-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "flow.yaml");
  writeFileSync(file, text);
  for (const [name, content] of Object.entries(HANGING.files))
    writeFileSync(join(folder, name), content);
  const served = await servedFlow({ file, content: text }, true);
  const started = await served.start(() => {});
  onTestFinished(async () => {
    await started.drain?.();
    await started.close();
  }, HOOK_MS);
  const { gateway, addition } = started;
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    version: "test",
    ...(gateway !== undefined && { broker: gateway }),
    ...(addition !== undefined && { addition }),
    ...(served.placeOf !== undefined && { placeOf: served.placeOf }),
  });
  onTestFinished(() => admin.close());
  const look = async (): Promise<string> => {
    const answer = (await (await fetch(`${admin.url}/api/why`)).json()) as WholeWhy;
    return [...whyLines(answer, undefined)]
      .join(" ")
      .replaceAll(/\s+/g, " ")
      .replaceAll(folder, "");
  };
  return {
    gateway: gateway?.url ?? "",
    why: async (reason) => {
      let seen = "";
      for (let tries = 0; tries < 600; tries++) {
        seen = await look();
        const part = seen.split("▥").find((one) => one.trim().startsWith(`${reason} `));
        if (part !== undefined) return part.trim();
        await systemTimer.sleep(50);
      }
      throw new Error(`nothing waits for ${reason} after 30 s; why says: ${seen}`);
    },
  };
}

/** What `sluice why` says on the stage of a reason. */
async function told(reason: StagedReason): Promise<string> {
  const stage: ReasonStage = await REASON_STAGES[reason]();
  const { gateway, why } = await run(stage.flow);
  if (stage.flood !== undefined) flood(gateway, stage.flood);
  if (stage.next !== undefined) {
    await why(stage.next.after);
    stage.next.act();
  }
  return await why(reason);
}

test("topic-rate names the producer, the topic's limit with its line, and the end", async () => {
  const said = await told("topic-rate");
  expect(said).toMatch(/^topic-rate bulk-0 waits to publish to orders\. The topic takes 5\/s/);
  expect(said).toMatch(/since [\d:]+, for .* until .*(?:sends less than|at the present rate)/);
  expect(said).toMatch(
    /setting gateway\.limits\.topics\."public\/default\/orders" = 5\/s \/flow\.yaml:5/,
  );
});

test("group-rate names the group and its limit", async () => {
  const said = await told("group-rate");
  expect(said).toMatch(/Group bulk takes 5\/s for its topics together/);
  expect(said).toMatch(/until .*setting gateway\.limits\.groups\.bulk = 5\/s \/flow\.yaml:5/);
});

test("broker-rate names the limit of the gateway", async () => {
  const said = await told("broker-rate");
  expect(said).toMatch(/This gateway takes 5\/s in all/);
  expect(said).toMatch(/until .*setting gateway\.limits\.broker = 5\/s \/flow\.yaml:5/);
});

test("connection-pending names the connection and its bound", async () => {
  const said = await told("connection-pending");
  expect(said).toMatch(
    /Connection 127\.0\.0\.1:\d+ waits\. \d+ of its publishes are not stored yet and 5 are allowed; it goes on at \d+/,
  );
  expect(said).toMatch(/setting gateway\.limits\.connection\.pendingMessages \/flow\.yaml:6/);
});

test("memory names the bytes that are held and the bound", async () => {
  const said = await told("memory");
  expect(said).toMatch(/Held frames fill .* of .*; reading goes on at/);
  expect(said).toMatch(/setting gateway\.limits\.memory \/flow\.yaml:6/);
});

test("fleet-share names the share, the ramp, and max with its line", async () => {
  const said = await told("fleet-share");
  expect(said).toMatch(/in waits to read\. Its limit is 1\d\/s, still ramping/);
  expect(said).toMatch(/until its share grows to 20\/s, in about (?:\d+ s|1 min 0 s)/);
  expect(said).toMatch(/setting pipelines\.orders\.limits\.rateLimit\.max = 20 \/flow\.yaml:3/);
});

test("rate names the rate of the gate", async () => {
  const said = await told("rate");
  expect(said).toMatch(
    /(?:Requests of out wait|\d+ requests? waits?) to be sent to 127\.0\.0\.1:\d+/,
  );
  expect(said).toMatch(/The gate sends at most 5\/s/);
  expect(said).toMatch(/until the next token, in [\d.]+ m?s/);
  expect(said).toMatch(
    /setting pipelines\.orders\.vertices\.out\.sink\.http\.request\.rate = 5\/s \/flow\.yaml:6/,
  );
});

test("concurrency names the requests in flight and the setting of their number", async () => {
  const said = await told("concurrency");
  expect(said).toMatch(
    /wait to be sent to .*1 of 1 are in flight(?: and each takes (?:[4-9]\d\d ms|\d+(?:\.\d)? s))?/,
  );
  expect(said).toMatch(/until the next answer/);
  expect(said).toMatch(
    /setting pipelines\.orders\.vertices\.out\.sink\.http\.request\.concurrency = 1 \/flow\.yaml:6 try a higher number, or adaptive, in \/flow\.yaml:6/,
  );
});

test("peer-busy names the service that said busy, and the rule", async () => {
  const said = await told("peer-busy");
  expect(said).toMatch(
    /(?:Requests of out wait|\d+ requests? waits?) to be sent to 127\.0\.0\.1:\d+/,
  );
  expect(said).toMatch(/It answered busy [\d.]+ m?s ago, so the rate was cut .*to [\d.]+\/s/);
  expect(said).toMatch(/until (?:the next request, in about|the service takes more|it is back at)/);
  expect(said).toMatch(/setting .*request\.busy = \{"rule":"sluice"\} \/flow\.yaml:6/);
});

test("retry-after names the pause that the service asked for, and its end", async () => {
  const said = await told("retry-after");
  expect(said).toMatch(
    /All requests to 127\.0\.0\.1:\d+ wait\. It answered 429 and asked for a pause of 3\d s/,
  );
  expect(said).toMatch(/until the pause of the service ends, in [23]\d s/);
  expect(said).toMatch(/setting none: the service decides/);
});

test.skipIf(redisPath === undefined)(
  `store-lost names the store's age, the safe share and maxMembers${NEEDS_REDIS}`,
  async () => {
    const said = await told("store-lost");
    expect(said).toMatch(
      /(?:in|out) runs on its safe share\. The store has not answered for .* and the lease of this member has ended, so it has the rate of 25\/s/,
    );
    expect(said).toMatch(/until the store answers, then at most/);
    expect(said).toMatch(/setting pipelines\.orders\.fleet\.maxMembers = 4 \/flow\.yaml:4/);
  },
);

test("a map that hangs is said to work on its messages, with its time limit", async () => {
  const { why } = await run(HANGING.flow);
  const said = await why("working");
  expect(said).toMatch(
    /enrich has been working on a batch of \d+ messages for \d+\.\d s\. Its map has not answered\. in stands behind it/,
  );
  expect(said).toMatch(/until an answer; the call is given up in \d+ s/);
  expect(said).toMatch(
    /setting pipelines\.orders\.vertices\.enrich\.map\.timeout = 30 s \/flow\.yaml:6/,
  );
});
