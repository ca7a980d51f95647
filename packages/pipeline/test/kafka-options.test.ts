/** The options of Kafka's connectors, without a server. */
import { expect, test } from "vitest";
import { readKafkaConnection } from "../src/connector/kafka/kafka-connection.ts";
import { kafkaSink } from "../src/connector/kafka/kafka-sink.ts";
import type { KafkaSinkOptions } from "../src/connector/kafka/kafka-sink.ts";
import { kafkaSource } from "../src/connector/kafka/kafka-source.ts";
import type { KafkaSourceOptions } from "../src/connector/kafka/kafka-source.ts";

const SOURCE = { brokers: ["localhost:9092"], topic: "orders", group: "billing" };
const SINK = { brokers: ["localhost:9092"], topic: "orders" };

test.each<[unknown, RegExp]>([
  [undefined, /the options of kafkaSource are undefined; write kafkaSource\(\{ brokers:/],
  [{ ...SOURCE, brokers: undefined }, /brokers of kafkaSource is undefined; use a list/],
  [{ ...SOURCE, brokers: "localhost:9092" }, /brokers of kafkaSource is "localhost:9092"; use a/],
  [{ ...SOURCE, brokers: [] }, /brokers of kafkaSource is an array; use a list of host and port/],
  [{ ...SOURCE, brokers: ["a:1", "localhost"] }, /brokers of kafkaSource is "localhost"/],
  [{ ...SOURCE, topic: "" }, /topic of kafkaSource is ""; use a text/],
  [{ ...SOURCE, group: undefined }, /group of kafkaSource is undefined; use a text/],
  [{ ...SOURCE, from: "now" }, /from of kafkaSource is "now"; use one of beginning, end/],
  [{ ...SOURCE, format: "xml" }, /format of kafkaSource is "xml"; use one of/],
  [{ ...SOURCE, sessionTimeoutMs: 999 }, /sessionTimeoutMs of kafkaSource is 999/],
  [{ ...SOURCE, sessionTimeoutMs: 300_001 }, /sessionTimeoutMs of kafkaSource is 300001/],
  [{ ...SOURCE, timeoutMs: 10 }, /timeoutMs of kafkaSource is 10/],
  [{ ...SOURCE, sessionTimeout: 5 }, /did you mean sessionTimeoutMs/],
])("the options %j of a source are refused by name", (options, why) => {
  expect(() => kafkaSource(options as KafkaSourceOptions)).toThrow(why);
});

test.each<[unknown, RegExp]>([
  ["orders", /the options of kafkaSink are "orders"; write kafkaSink\(\{ brokers:/],
  [{ ...SINK, topic: 7 }, /topic of kafkaSink is 7; use a text/],
  [{ ...SINK, brokers: [7] }, /brokers of kafkaSink is 7/],
  [{ ...SINK, timeoutMs: 60_001 }, /timeoutMs of kafkaSink is 60001/],
  [{ ...SINK, group: "billing" }, /group/],
])("the options %j of a sink are refused by name", (options, why) => {
  expect(() => kafkaSink(options as KafkaSinkOptions)).toThrow(why);
});

test("values are read as JSON unless the options say otherwise", () => {
  expect(kafkaSource(SOURCE)).toMatchObject({ kind: "kafka", format: "json" });
  expect(kafkaSource({ ...SOURCE, format: "bytes" }).format).toBe("bytes");
  expect(kafkaSink(SINK).kind).toBe("kafka");
});

test("a request has 10 s unless the options say otherwise, and making a client connects to nothing", async () => {
  const client = await readKafkaConnection("kafkaSink", SINK)("orders/out of café");
  expect(client.timeoutMs).toBe(10_000);
  const patient = await readKafkaConnection("kafkaSink", { ...SINK, timeoutMs: 60_000 })("x");
  expect(patient.timeoutMs).toBe(60_000);
});
