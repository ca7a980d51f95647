/** Bytes that real clients exchange with our broker, compared with what our codec and Java's make of them. */
import { describe, expect, test } from "vitest";
import {
  decodeBrokerEntryMetadata,
  decodeFrame,
  decodeMetadata,
  encodeBrokerEntryHead,
  encodeEntry,
  encodeFrameHead,
  isIntact,
  splitEntry,
} from "@sluice/pulsar/wire";
import { commandName } from "./drivers/command-name.ts";
import { untilFound } from "./programs/found.ts";
import { startTarget, targetMissing } from "./servers/our-broker.ts";
import { ProcessDriver } from "./drivers/process-driver.ts";
import { RecordingProxy } from "./servers/recording-proxy.ts";
import type { RecordedFrame } from "./servers/recording-proxy.ts";

const JAVA = new ProcessDriver("java");
const PYTHON = new ProcessDriver("python");

await untilFound(["python", "java"]);
const missing = await targetMissing();

describe.skipIf(missing !== undefined)("bytes", () => {
  for (const client of [PYTHON, JAVA])
    test.skipIf(client.missing !== undefined)(
      `our codec writes what it reads of the ${client.name} client and its broker, byte by byte`,
      { concurrent: true },
      async () => {
        const frames = await tourOf(client);
        expect(frames.length).toBeGreaterThan(100);
        for (const frame of frames)
          expect(again(frame.bytes).toString("hex"), nameOf(frame)).toBe(
            frame.bytes.toString("hex"),
          );
      },
    );

  test.skipIf(JAVA.missing !== undefined)(
    "Java's codec writes what it reads of our broker, byte by byte",
    { concurrent: true },
    async () => {
      const frames = (await tourOf(JAVA)).filter(({ to }) => to === "client");
      const hexes = frames.map(({ bytes }) => bytes.toString("hex"));
      const answers = await JAVA.run("-", { command: "decode", frames: hexes }).outcome;
      for (const [index, frame] of frames.entries()) {
        const answer = answers[index];
        expect(answer?.["again"], nameOf(frame)).toBe(hexes[index]);
        expect(answer?.["isChecksumRight"], nameOf(frame)).not.toBe(false);
      }
    },
  );
});

const tours = new Map<ProcessDriver, Promise<readonly RecordedFrame[]>>();

/** One tour of each client serves all tests. */
function tourOf(client: ProcessDriver): Promise<readonly RecordedFrame[]> {
  const tour = tours.get(client) ?? recordTour(client);
  tours.set(client, tour);
  return tour;
}

async function recordTour(client: ProcessDriver): Promise<readonly RecordedFrame[]> {
  // Java's codec leaves out the flag of the throttle commands, which it does not know.
  const broker = await startTarget({}, { throttle: false });
  const proxy = await RecordingProxy.start(broker.serviceUrl);
  try {
    const topic = "persistent://public/default/tour";
    await client.run(proxy.serviceUrl, { command: "tour", topic, keepAliveMs: 1_000 }).outcome;
    return proxy.frames;
  } finally {
    await proxy.close();
    await broker.close();
  }
}

/** The same frame, taken apart and put together. */
function again(bytes: Buffer): Buffer {
  const { command, entry } = decodeFrame(bytes);
  const rest = entry.length === 0 ? entry : entryAgain(entry);
  return Buffer.concat([encodeFrameHead(command, rest.length), rest]);
}

function entryAgain(bytes: Buffer): Buffer {
  const entry = splitEntry(bytes);
  expect(isIntact(entry)).toBe(true);
  const brokerEntry = decodeBrokerEntryMetadata(entry);
  const head = brokerEntry === undefined ? Buffer.alloc(0) : encodeBrokerEntryHead(brokerEntry);
  return Buffer.concat([head, encodeEntry(decodeMetadata(entry), entry.payload)]);
}

function nameOf({ to, type }: RecordedFrame): string {
  return `${commandName(type)} to the ${to}`;
}
