/** Every wrong use of a public method ends in a `ConfigError` that says what was found and the way out. */
import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { connect } from "../src/client/api/connect.ts";
import type { Client } from "../src/client/api/client.ts";
import {
  basicAuthentication,
  tlsAuthentication,
  tokenAuthentication,
} from "../src/client/authentication/ready-methods.ts";
import { oauth2Authentication } from "../src/client/authentication/oauth2.ts";
import type { Consumer } from "../src/client/consumer/consumer.ts";
import { MessageId } from "../src/client/message/message-id.ts";
import type { Producer } from "../src/client/producer/producer.ts";
import { consumingClient } from "./virtual-consumer.ts";

const URL = "pulsar://broker:6650";
const GOOD = { topic: "orders", subscription: "s" };

/** Calls a method as JavaScript can: with arguments that types would refuse. */
function callOf(target: object, method: string, args: readonly unknown[]): unknown {
  const found: unknown = Reflect.get(target, method);
  return Reflect.apply(found as () => unknown, target, args);
}

/** The `ConfigError` of a call, thrown or as a rejection. */
async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return String(error);
  }
  throw new Error("the call was not refused");
}

const connecting: [args: readonly unknown[], expected: string][] = [
  [[], 'the service URL is of type undefined; use a string, e.g. "pulsar://localhost:6650"'],
  [[6650], "the service URL is of type number"],
  [["localhost:6650"], "write e.g. pulsar://localhost:6650"],
  [["http://localhost:8080"], "use the broker's own, e.g. pulsar://localhost:6650"],
  [["https://localhost:8443"], "use the broker's own, e.g. pulsar+ssl://localhost:6651"],
  [["pulsar://user:pass@host"], "use the option authentication: basicAuthentication"],
  [["pulsar://host:99999"], "use 1 to 65535"],
  [[URL, "token"], "the options of connect must be an object, and is"],
  [[URL, null], "the options of connect must be an object, and is null"],
  [[URL, new AbortController().signal], "is an AbortSignal; write connect("],
  [[URL, { tokn: "x" }], 'connect has no option "tokn"; did you mean token?'],
  [[URL, { world: {} }], 'connect has no option "world"; it has token, authentication, tls'],
  [[URL, { token: 5 }], "token is of type number; use a string or a function"],
  [[URL, { token: "" }], "token is empty; use a string or a function"],
  [[URL, { token: "x", authentication: tokenAuthentication("x") }], "use one of them"],
  [[URL, { authentication: "x" }], "write { authentication: tokenAuthentication(token) }"],
  [[URL, { authentication: {} }], "authentication has no methodName; use tokenAuthentication"],
  [[URL, { authentication: { methodName: "x" } }], "authentication has no credentials function"],
  [[URL, { authentication: tlsAuthentication() }], "set tls: { cert, key }"],
  [[URL, { tls: "ca.pem" }], 'tls must be an object, and is "ca.pem"'],
  [[URL, { tls: { ca: "ca.pem" } }], "tls.ca is not PEM; give the content of the file"],
  [[URL, { tls: { cacert: "x" } }], 'tls has no option "cacert"; did you mean'],
  [[URL, { connectTimeoutMs: 0 }], "connectTimeoutMs is 0; it must be a number from 1"],
  [[URL, { connectTimeoutMs: "5s" }], 'connectTimeoutMs is "5s"; it must be a number'],
  [[URL, { keepAliveMs: -1 }], "keepAliveMs is -1"],
  [[URL, { throttle: 1001 }], "throttle must be an object, and is 1001; write { throttle: false }"],
  [[URL, { throttle: null }], "throttle must be an object, and is null"],
  [[URL, { throttle: { flag: 1 } }], 'throttle numbers has no option "flag"'],
  [[URL, { throttle: { featureFlag: 6 } }], "featureFlag is 6; it must be a whole number from 100"],
  [[URL, { throttle: { throttleProducer: 1002 } }], "give each a number of its own"],
  [[URL, { throttle: { throttleProducer: "1" } }], 'throttleProducer is "1"; it must be a whole'],
  [[URL, { onEvent: "log" }], "onEvent is of type string; use a function"],
  [[URL, { dependencies: { clock: 1 } }], 'dependencies has no option "clock"'],
  [
    [URL, {}, 5000],
    "the signal of connect is 5000; use an AbortSignal, e.g. that of an AbortController",
  ],
];

test.each(connecting)("connect(%o) is refused: %s", async (args, expected) => {
  expect(await refusalOf(() => callOf({ connect }, "connect", args))).toContain(expected);
});

test.each<[call: () => unknown, expected: string]>([
  [() => basicAuthentication("", "x"), "user of basicAuthentication must be a text"],
  [() => basicAuthentication("a:b", "x"), 'a text without ":"'],
  [() => basicAuthentication("a", 5 as never), "password of basicAuthentication must be a string"],
  [() => oauth2Authentication(undefined as never), "oauth2Authentication needs options, as in"],
  [
    () => oauth2Authentication({ clientId: "a", clientSecret: "b" }),
    "one of issuerUrl and tokenUrl",
  ],
  [
    () => oauth2Authentication({ tokenUrl: "http://issuer/", clientId: "a", clientSecret: "b" }),
    "tokenUrl is not an https:// URL",
  ],
  [
    () => oauth2Authentication({ tokenUrl: "https://issuer/", clientId: "", clientSecret: "b" }),
    "oauth2Authentication needs clientId",
  ],
  [() => new MessageId(1 as never, 2 as never), "use bigints, e.g. new MessageId(7n, 0n)"],
  [() => MessageId.deserialize("x" as never), "use the Uint8Array that serialize returned"],
])("%s is refused: %s", async (call, expected) => {
  expect(await refusalOf(call)).toContain(expected);
});

const clientCalls: [method: keyof Client & string, args: readonly unknown[], expected: string][] = [
  ["createProducer", [], 'is undefined; write createProducer({ topic: "orders" })'],
  ["createProducer", [null], 'is null; write createProducer({ topic: "orders" })'],
  ["createProducer", ["sales"], 'is "sales"; write createProducer({ topic: "sales" })'],
  ["createProducer", [["a"]], "is an array; write createProducer"],
  ["createProducer", [{}], 'topic is undefined; write "topic", "tenant/namespace/topic"'],
  ["createProducer", [{ topic: "" }], "topic is empty; write"],
  ["createProducer", [{ topic: "a/b" }], 'topic "a/b" has 2 parts; write'],
  ["createProducer", [{ topc: "t" }], 'createProducer has no option "topc"; did you mean topic?'],
  ["createProducer", [{ topic: "t", name: 5 }], "name is 5; use a text"],
  ["createProducer", [{ topic: "t", chunking: "yes" }], 'chunking is "yes"; use true or false'],
  ["createProducer", [{ topic: "t", batching: 5 }], "batching must be an object, and is 5; write"],
  [
    "createProducer",
    [{ topic: "t", batching: { delayMs: 5 } }],
    "it has messagesMax, bytesMax, delayMaxMs",
  ],
  [
    "createProducer",
    [{ topic: "t", compression: "LZ4" }],
    'compression is "LZ4"; it must be one of none, lz4',
  ],
  ["createProducer", [{ topic: "t", accessMode: "Exclusive" }], 'did you mean "exclusive"?'],
  ["createProducer", [{ topic: "t", sendTimeoutMs: "30s" }], 'sendTimeoutMs is "30s"; it must be'],
  ["createProducer", [{ topic: "t", pendingMessagesMax: 0 }], "pendingMessagesMax is 0"],
  [
    "createProducer",
    [{ topic: "t", initialSequenceId: 5 }],
    "initialSequenceId is 5; use a bigint",
  ],
  ["createProducer", [{ topic: "t", partitions: 3 }], "partitions must be an object, and is 3"],
  [
    "createProducer",
    [{ topic: "t", partitions: { route: 1 } }],
    "partitions.route must be a function",
  ],
  ["createProducer", [{ topic: "t", properties: { a: 1 } }], 'property "a" is 1; use a string'],
  [
    "createProducer",
    [{ topic: "t", properties: "a=1" }],
    'properties must be an object, and is "a=1"',
  ],
  ["createProducer", [{ topic: "t" }, { signal: 1 }], "the signal of createProducer is an object"],
  ["subscribe", [], 'write subscribe({ topic: "orders", subscription: "shop" })'],
  ["subscribe", ["sales"], 'write subscribe({ topic: "sales", subscription: "shop" })'],
  ["subscribe", [{}], "needs one of topic, topics and topicsPattern, and has none"],
  ["subscribe", [{ topic: "t" }], "subscription is undefined; use a text"],
  ["subscribe", [{ ...GOOD, topics: ["u"] }], "and has topic and topics"],
  ["subscribe", [{ subscription: "s", topics: "t" }], 'topics is "t"; use an array'],
  ["subscribe", [{ ...GOOD, type: "Shared" }], 'did you mean "shared"?'],
  [
    "subscribe",
    [{ ...GOOD, initialPosition: 0 }],
    "initialPosition is 0; use one of latest, earliest",
  ],
  ["subscribe", [{ ...GOOD, ackReceipt: 1 }], "ackReceipt is 1; use true or false"],
  ["subscribe", [{ ...GOOD, priorityLevel: -1 }], "priorityLevel is -1"],
  ["subscribe", [{ ...GOOD, receiverQueueSize: 0 }], "receiverQueueSize is 0"],
  ["subscribe", [GOOD, 5], "the signal of subscribe is 5"],
];

test.each(clientCalls)("client.%s(%o) is refused: %s", async (method, args, expected) => {
  const { client } = await consumingClient();
  expect(await refusalOf(() => callOf(client, method, args))).toContain(expected);
  await client.close();
});

const producerCalls: [args: readonly unknown[], expected: string][] = [
  [[], 'the message is undefined; write send({ data: "hello" })'],
  [[null], "the message is null; write"],
  [["hello"], 'the message is "hello"; write'],
  [[Buffer.from("x")], "the message is a Buffer; write"],
  [[{}], "data is undefined; use a string or a Uint8Array, e.g. JSON.stringify(value)"],
  [[{ data: { a: 1 } }], "data is an object; use a string"],
  [[{ data: "", keys: "a" }], 'the message has no option "keys"; did you mean key?'],
  [[{ data: "", key: 5 }], "key is 5; use a string or a Uint8Array"],
  [[{ data: "", orderingKey: "a" }], 'orderingKey is "a"; use a Uint8Array'],
  [[{ data: "", sequenceId: 5 }], "sequenceId is 5; use a bigint"],
  [[{ data: "", eventTimeMs: "now" }], 'eventTimeMs is "now"; it must be a number'],
  [[{ data: "", deliverAtMs: 1, deliverAfterMs: 1 }], "use one of them"],
  [[{ data: "", properties: { a: 1 } }], 'property "a" is 1; use a string'],
  [
    [{ data: "" }, new AbortController().signal],
    "is an AbortSignal; write send(message, { signal })",
  ],
  [[{ data: "" }, { timeoutMs: 5 }], "for a timeout pass the signal of an AbortController"],
  [[{ data: "" }, { signal: 5 }], "use an AbortSignal"],
];

test.each(["orders", "partitioned"])("a producer of %s refuses wrong messages", async (topic) => {
  const { broker, client } = await consumingClient();
  broker.partitions.set("persistent://public/default/partitioned", 3);
  const producer: Producer = await client.createProducer({ topic });
  for (const [args, expected] of producerCalls)
    expect(await refusalOf(() => callOf(producer, "send", args))).toContain(expected);
  expect(producer.pendingMessages).toBe(0);
  await producer.send({ data: "good" });
  await client.close();
});

const consumerCalls: [
  method: keyof Consumer & string,
  args: readonly unknown[],
  expected: string,
][] = [
  ["ack", [], "the argument of ack is undefined; pass a received message or a MessageId"],
  ["ack", ["x"], 'the argument of ack is "x"; pass'],
  ["ack", [{}], "the argument of ack is an object; pass"],
  [
    "ack",
    [{ topic: "elsewhere", messageId: new MessageId(1n, 1n) }],
    "use one of the consumer's 1",
  ],
  ["ack", [new MessageId(1n, 1n, { batchIndex: 1, batchSize: 3 })], "batchIndexAck: true"],
  ["nack", [], "the argument of nack is undefined; pass"],
  ["nack", [5], "the argument of nack is 5; pass"],
  ["ackCumulative", [], "the argument of ackCumulative is undefined; pass"],
  ["seek", [], "the argument of seek is undefined; pass"],
  ["seek", ["x"], 'the argument of seek is "x"; pass a received message or a MessageId, or a time'],
  ["seek", [Object.create(Date.prototype)], "a Date is passed as date.getTime()"],
  ["seek", [-1], "the argument of seek is -1; use a time in ms since 1970"],
  ["seek", [Number.NaN], "the argument of seek is NaN; use a time"],
  ["seek", [0, new AbortController().signal], "is an AbortSignal; write seek(target, { signal })"],
  ["receive", [new AbortController().signal], "is an AbortSignal; write receive({ signal })"],
  ["receive", [5000], "is 5000; write receive({ signal })"],
  ["receive", [{ timeout: 5 }], "for a timeout pass the signal of an AbortController"],
  ["receive", [{ sgnal: 5 }], 'receive has no option "sgnal"; did you mean signal?'],
  ["getLastMessageId", ["orders"], 'is "orders"; write getLastMessageId({ topic, signal })'],
  ["getLastMessageId", [{ topic: "other" }], 'topic is "other"; use one of the consumer\'s 1'],
  ["unsubscribe", [5], "is 5; write unsubscribe({ signal })"],
];

test.each(consumerCalls)("consumer.%s(%o) is refused: %s", async (method, args, expected) => {
  const { client, subscribe } = await consumingClient();
  const consumer = await subscribe();
  expect(await refusalOf(() => callOf(consumer, method, args))).toContain(expected);
  await client.close();
});
