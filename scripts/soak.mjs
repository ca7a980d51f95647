// Runs one `sluice run` process under traffic for a long time, with a fault every 20 s, and checks that nothing is left
// behind. Linux only: it reads /proc. Usage: node scripts/soak.mjs [--minutes 30] [--seed 1]
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { drawn, FAULTS } from "./soak/faults.mjs";
import { Service } from "./soak/service.mjs";
import { FlowProcess, freePort, OwnRedis, Posts, Producer, setLimits } from "./soak/world.mjs";

/** From one fault to the next, and how long a fault lasts, ms. */
const EVERY_MS = 20_000;
const FAULT_MS = 8_000;
/** Traffic before the first sample, and after the last fault: connections that idle are closed meanwhile. */
const CALM_MS = 20_000;
/** Longest wait for messages that are on their way at the end, ms. */
const DRAIN_MAX_MS = 120_000;
/** Descriptors and timers at the end may be more than at the start by this. Chosen: the first run of 4 minutes had 0 and 1. */
const MORE_MAX = 6;
/** Resident memory at the end ÷ at the start, at most. Chosen: the first run of 4 minutes had 1.15. */
const RSS_RATIO_MAX = 2;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);

const folder = mkdtempSync(join(tmpdir(), "sluice-soak-"));
const service = new Service();
await service.start();
const redis = new OwnRedis(folder, await freePort());
const ingest = `127.0.0.1:${await freePort()}`;
const flow = new FlowProcess(folder, flowText());
const producer = new Producer();
const posts = new Posts(`http://${ingest}/`);

const mistakes = [];
try {
  await redis.start();
  await flow.start();
  producer.start(flow.ready.gateway);
  posts.start();
  await run();
} finally {
  await producer.kill();
  await flow.kill();
  await redis.kill();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const mistake of mistakes) say(`WRONG: ${mistake}`);
say(mistakes.length === 0 ? "nothing is wrong" : `${mistakes.length} things are wrong`);
process.exit(mistakes.length === 0 ? 0 : 1);

async function run() {
  const limits = (...words) => setLimits(flow.ready.admin, words);
  const world = { service, redis, flow, producer, posts, sleep, limits };
  await sleep(CALM_MS);
  const before = await flow.sample();
  say(`at the start: ${sampleText(before)}`);
  const count = Math.max(1, Math.floor((minutes * 60_000) / EVERY_MS));
  let index = 0;
  for (const name of drawn(seed)) {
    if (index++ >= count || flow.hasExited) break;
    const startMs = performance.now();
    const arrived = service.ids.size;
    const end = await FAULTS[name](world);
    await sleep(FAULT_MS);
    await end();
    await sleep(Math.max(0, startMs + EVERY_MS - performance.now()));
    const sample = await flow.sample();
    if (sample === undefined) break;
    const { descriptors, rssMb } = sample;
    const came = service.ids.size - arrived;
    say(`${index}/${count} ${name}: ${came} messages, ${descriptors} descriptors, ${rssMb} MB`);
    if (came === 0)
      mistakes.push(`no message came in the ${EVERY_MS} ms of fault ${index}, ${name}`);
  }
  if (flow.hasExited) mistakes.push("the process ended by itself");
  else await checkEnd(before);
  say(`events: ${[...flow.events].map(([kind, n]) => `${kind} ${n}`).join(", ")}`);
  for (const line of flow.unexpected.slice(0, 20)) mistakes.push(`unexpected line: ${line}`);
}

async function checkEnd(before) {
  await sleep(CALM_MS);
  const after = await flow.sample();
  say(`at the end: ${sampleText(after)}`);
  const { descriptors, rssMb } = after;
  if (descriptors > before.descriptors + MORE_MAX)
    mistakes.push(`${descriptors} descriptors; there were ${before.descriptors}`);
  if (rssMb > before.rssMb * RSS_RATIO_MAX)
    mistakes.push(`${rssMb} MB are resident; there were ${before.rssMb}`);
  for (const [kind, n] of Object.entries(after.resources))
    if (n > (before.resources[kind] ?? 0) + MORE_MAX)
      mistakes.push(`${n} of ${kind}; there were ${before.resources[kind] ?? 0}`);

  await producer.stop();
  await posts.stop();
  const dead = () => idsOf("dead.ndjson", ({ value }) => value.id);
  const missing = () => {
    const given = dead();
    return [...producer.stored].filter((id) => !service.ids.has(id) && !given.has(id));
  };
  for (let waitedMs = 0; missing().length > 0 && waitedMs < DRAIN_MAX_MS; waitedMs += 500)
    await sleep(500);
  const lost = missing();
  say(
    `${producer.stored.size} messages stored: ${service.ids.size} at the service, ${dead().size} dead letters, ${lost.length} missing`,
  );
  if (lost.length > 0) mistakes.push(`${lost.length} stored messages did not come`);
  const code = await flow.stop();
  if (code !== 0) mistakes.push(`after SIGTERM the process ended with ${code}`);
  const written = idsOf("out.ndjson", ({ id }) => id);
  const unwritten = [...posts.stored].filter((id) => !written.has(id));
  say(`${posts.stored.size} posts answered 200, ${unwritten.length} of them not in the file`);
  if (unwritten.length > 0) mistakes.push(`${unwritten.length} acknowledged posts are not there`);
}

function flowText() {
  return `name: soak
store: { redis: { url: "redis://127.0.0.1:${redis.port}" } }
admin: { listen: 127.0.0.1:0 }
gateway:
  listen: pulsar://127.0.0.1:0
  upstream: embedded
  data: ./data
  limits: { topics: { public/default/orders: { messages: 500/s } } }
pipelines:
  orders:
    fleet: { maxMembers: 2 }
    retry: { attempts: 8 }
    deadLetter: { file: { path: ./dead.ndjson } }
    vertices:
      - name: in
        source: { pulsar: { topic: public/default/orders, subscription: soak, format: json } }
        limits: { rateLimit: { max: 300, min: 300 } }
      - { name: out, sink: { http: { url: "${service.url}", request: { timeout: 3s } } } }
  ingest:
    vertices:
      - { name: in, source: { http: { listen: "${ingest}" } } }
      - { name: out, sink: { file: { path: ./out.ndjson } } }
`;
}

/** Ids of a file of NDJSON; empty if there is none. */
function idsOf(name, idOf) {
  let text = "";
  try {
    text = readFileSync(join(folder, name), "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  const lines = text.split("\n").filter((line) => line !== "");
  return new Set(lines.map((line) => idOf(JSON.parse(line))));
}

function sampleText({ descriptors, rssMb, resources }) {
  const kinds = Object.entries(resources).map(([kind, n]) => `${kind} ${n}`);
  return `${descriptors} descriptors, ${rssMb} MB, ${kinds.join(", ")}`;
}

function say(text) {
  console.log(text);
}
