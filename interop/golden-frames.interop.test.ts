import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commandName } from "./drivers/command-name.ts";
import { brokerProgram, clientProgram, untilFound } from "./programs/found.ts";
import { isTooLate } from "./programs/optional.ts";
import { openBroker } from "./servers/our-broker.ts";
import { ProcessDriver } from "./drivers/process-driver.ts";
import type { RealBroker } from "./servers/real-broker.ts";
import { RecordingProxy } from "./servers/recording-proxy.ts";
import type { RecordedFrame } from "./servers/recording-proxy.ts";

interface GoldenFrame {
  readonly from: string;
  readonly command: string;
  readonly hex: string;
}

const file = new URL("../packages/pulsar/test/golden-frames.json", import.meta.url);
await untilFound();
const found = {
  broker: brokerProgram(),
  java: clientProgram("java"),
  python: clientProgram("python"),
};
const isMissing = Object.values(found).some((program) => "missing" in program);

/** `INTEROP_WRITE_GOLDEN=1` writes the frames of this run; otherwise they are compared by kind. */
test.skipIf(isMissing || isTooLate("golden-frames"))(
  "real peers still send every kind of frame that our codec is tested with",
  async () => {
    const broker = await openBroker();
    const tours = (["python", "java"] as const).map((name) => tourOf(broker, name));
    const frames = (await Promise.all(tours)).flat();
    if (process.env["INTEROP_WRITE_GOLDEN"] === "1")
      writeFileSync(file, `${JSON.stringify(frames, undefined, 2)}\n`);
    const golden = JSON.parse(readFileSync(file, "utf8")) as readonly GoldenFrame[];
    expect(kindsOf(golden).filter((kind) => !kindsOf(frames).includes(kind))).toEqual([]);
  },
);

async function tourOf(broker: RealBroker, name: "java" | "python"): Promise<GoldenFrame[]> {
  const proxy = await RecordingProxy.start(broker.serviceUrl);
  try {
    const topic = `persistent://public/default/tour-${name}`;
    const command = { command: "tour", topic, adminUrl: broker.adminUrl, keepAliveMs: 1_000 };
    await new ProcessDriver(name).run(proxy.serviceUrl, command).outcome;
    return distinct(proxy.frames, name);
  } finally {
    await proxy.close();
  }
}

/** Of frames that differ in numbers only, the first is enough. */
function distinct(frames: readonly RecordedFrame[], name: "java" | "python"): GoldenFrame[] {
  const shapes = new Map<string, GoldenFrame>();
  for (const { to, type, bytes } of frames) {
    const shape = `${to} ${type} ${bytes.length}`;
    if (shapes.has(shape)) continue;
    const sender = to === "broker" ? name : "broker";
    const program = found[sender];
    const version = "missing" in program ? "" : program.version;
    const from = sender === "broker" ? `${version} broker` : `${name} ${version}`;
    shapes.set(shape, { from, command: commandName(type), hex: bytes.toString("hex") });
  }
  return [...shapes.values()];
}

function kindsOf(frames: readonly GoldenFrame[]): string[] {
  return [...new Set(frames.map(({ from, command }) => `${command} from ${from}`))];
}
