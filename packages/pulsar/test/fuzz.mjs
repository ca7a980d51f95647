// Feeds the wire with what no peer should send, and says how it took it. It runs what is built.
// usage: node fuzz.mjs [--frames N] [--seed N] [--every N]; the frames come on top of all prefixes and flips, or of
// every Nth flip
import { parseArgs } from "node:util";
import { SeededRandom } from "@sluice/core";
import { systemClock } from "@sluice/core/system";
import {
  decodeBrokerEntryMetadata,
  decodeFrame,
  decodeMetadata,
  FrameDecoder,
  isIntact,
  ProtocolError,
  splitBatch,
  splitEntry,
} from "@sluice/pulsar/wire";
import { goldenFrames, mutated } from "./mutated.mjs";

const { values } = parseArgs({
  options: {
    frames: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
  },
});
const random = new SeededRandom(Number(values.seed));
const valid = goldenFrames().map(({ bytes }) => bytes);
const result = { fed: 0, accepted: 0, refused: 0, slowestMs: 0, rssGrowthBytes: 0 };

for (const frame of valid) take(frame);
const rssBefore = settledRss();
everyPrefix();
everyFlip();
for (let left = Number(values.frames); left > 0; left--) take(mutated(random, valid));
result.rssGrowthBytes = Math.max(0, settledRss() - rssBefore);
process.stdout.write(`${JSON.stringify(result)}\n`);

function everyPrefix() {
  for (const frame of valid)
    for (let length = 0; length < frame.length; length++) take(frame.subarray(0, length));
}

/** Each byte becomes each other byte, once; with `every`, each Nth other byte, beginning elsewhere for each byte. */
function everyFlip() {
  const every = Number(values.every);
  for (const frame of valid) {
    for (let at = 0; at < frame.length; at++) {
      const bytes = Buffer.from(frame);
      for (let change = 1 + (at % every); change < 256; change += every) {
        bytes[at] = frame[at] ^ change;
        take(bytes);
      }
    }
  }
}

function take(bytes) {
  let elapsedMs = timedJudge(bytes);
  // A busy machine interrupts a decoding now and then; only slow bytes are slow every time.
  for (let again = 0; again < 5 && elapsedMs > 5; again++)
    elapsedMs = Math.min(elapsedMs, timedJudge(bytes));
  result.slowestMs = Math.max(result.slowestMs, elapsedMs);
  result.fed++;
}

function timedJudge(bytes) {
  const startedAtMs = systemClock.now();
  let isRefused = false;
  try {
    decodeAll(bytes);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    isRefused = true;
  }
  if (isRefused) result.refused++;
  else result.accepted++;
  return systemClock.now() - startedAtMs;
}

/** As far as any reader goes: command, entry, metadata, the messages of a batch. */
function decodeAll(bytes) {
  const decoder = new FrameDecoder();
  decoder.push(bytes);
  for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) {
    const { command, entry } = decodeFrame(frame);
    if (command.kind !== "send" && command.kind !== "message") continue;
    const parts = splitEntry(entry);
    isIntact(parts);
    decodeBrokerEntryMetadata(parts);
    const { numMessagesInBatch, compression } = decodeMetadata(parts);
    if (numMessagesInBatch === undefined || compression) continue;
    for (const message of splitBatch(parts.payload, numMessagesInBatch)) void message;
  }
}

function settledRss() {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
