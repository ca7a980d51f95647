/** `sluice run` with connectors that need servers of others: a chain of pipelines in one flow file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { expect, onTestFinished, test } from "vitest";
import { runFlow, until } from "../packages/sluice/test/run-flow.ts";
import { serverProgram, untilFound } from "./programs/found.ts";
import { KafkaServer } from "./servers/kafka-server.ts";
import { natsUrl, startNats } from "./servers/nats-server.ts";

await untilFound(["kafka", "nats"]);
const missing = [serverProgram("kafka"), serverProgram("nats")].flatMap((program) =>
  "missing" in program ? [program.missing] : [],
);
const SKIPPED = missing.length > 0 ? ` (skipped: ${missing.join("; ")})` : "";

const COUNT = 200;

test.skipIf(SKIPPED !== "")(
  `messages go from a generator through Kafka and NATS to a file, all of them${SKIPPED}`,
  async () => {
    const kafka = await KafkaServer.start();
    onTestFinished(() => kafka.stop());
    const nats = await startNats();
    onTestFinished(() => nats.stop());
    await kafka.createTopic("numbers", 2);
    const connection = await connect({ servers: natsUrl(nats) });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: "NUMBERS", subjects: ["numbers.>"] });
    await connection.close();
    const { folder, log } = await runFlow(`
admin: { listen: 127.0.0.1:0 }
pipelines:
  first:
    vertices:
      - { name: in, source: { generator: { count: ${COUNT} } } }
      - { name: out, sink: { kafka: { brokers: "${kafka.broker}", topic: numbers } } }
  second:
    vertices:
      - { name: in, source: { kafka: { brokers: "${kafka.broker}", topic: numbers, group: g } } }
      - { name: out, sink: { nats: { servers: "${natsUrl(nats)}", subject: numbers.new } } }
  third:
    vertices:
      - { name: in, source: { nats: { servers: "${natsUrl(nats)}", stream: NUMBERS, consumer: c } } }
      - { name: out, sink: { file: { path: out.ndjson } } }
`);
    const out = (): ReadonlySet<string> => new Set(linesOf(join(folder, "out.ndjson")));
    await until(
      () => out().size >= COUNT,
      () => log.join("\n"),
    );
    const expected = Array.from({ length: COUNT }, (_, n) => `{"n":${n}}`);
    expect([...out()].toSorted()).toEqual(expected.toSorted());
    expect(log.filter((line) => line.includes('"event":"error"'))).toEqual([]);
  },
);

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    // Not there before the first message.
    return [];
  }
}
