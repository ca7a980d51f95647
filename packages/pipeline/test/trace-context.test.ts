/** W3C trace context on its way through connectors and pipelines. */
import { headers as natsHeaders } from "@nats-io/transport-node";
import { startBroker } from "@sluice/gateway";
import {
  blackhole,
  httpSink,
  httpSource,
  mapFunction,
  pulsarSink,
  pulsarSource,
  startPipeline,
} from "@sluice/pipeline";
import type { Message, SinkConnector, SourceConnector } from "@sluice/pipeline";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { dropWrongTrace } from "../src/connector/http/trace-context.ts";
import { readHeaders, writeHeaders } from "../src/connector/nats/nats-headers.ts";
import { fieldsOf, messageOf as ofEntry } from "../src/connector/redis/entry.ts";
import { connectorScene, messageOf, readCount, unhurried, until } from "./connector-scene.ts";
import { startService } from "./loopback-service.ts";

const opened: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const hex = (length: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((text) => /[^0]/.test(text));

const TRACEPARENTS = fc
  .tuple(hex(32), hex(16), fc.constantFrom("00", "01"))
  .map(([trace, parent, flags]) => `00-${trace}-${parent}-${flags}`);

const TRACESTATES = fc
  .uniqueArray(
    fc.tuple(
      fc.stringMatching(/^[a-z][a-z\d_*/-]{0,10}(@[a-z]{1,8})?$/),
      fc.stringMatching(/^[!-+\--<>-~]{1,20}$/),
    ),
    { minLength: 1, maxLength: 32, selector: ([key]) => key },
  )
  .map((members) => members.map(([key, value]) => `${key}=${value}`).join(","));

const CONTEXTS = fc.record({ traceparent: TRACEPARENTS, tracestate: TRACESTATES });

/** The same in every run. */
const SOME = fc.sample(CONTEXTS, { numRuns: 100, seed: 7 });

const CONTEXT = SOME[0] ?? { traceparent: "", tracestate: "" };

test("valid trace context is kept, as it is", () => {
  fc.assert(
    fc.property(CONTEXTS, (context) => {
      const headers: Record<string, string> = { ...context };
      dropWrongTrace(headers);
      expect(headers).toEqual(context);
    }),
  );
});

const VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test.each([
  ["an empty text", ""],
  ["upper case", VALID.toUpperCase()],
  ["a trace id of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
  ["a parent id of zeros", `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`],
  ["version ff", VALID.replace(/^00/, "ff")],
  ["version 00 with a fifth part", `${VALID}-x`],
  ["a later version with text that no dash separates", `${VALID.replace(/^00/, "cc")}x`],
  ["two values", `${VALID}, ${VALID}`],
  ["a short trace id", VALID.replace("0af7", "")],
  ["spaces", ` ${VALID}`],
])("a traceparent with %s is dropped with its tracestate", (_, traceparent) => {
  const headers: Record<string, string> = { traceparent, tracestate: "a=1", baggage: "b=2" };
  dropWrongTrace(headers);
  expect(headers).toEqual({ baggage: "b=2" });
});

test("a later version of traceparent is kept, with the parts that it adds", () => {
  const headers: Record<string, string> = { traceparent: `${VALID.replace(/^00/, "cc")}-what` };
  dropWrongTrace(headers);
  expect(Object.keys(headers)).toEqual(["traceparent"]);
});

test.each([
  ["an upper-case key", "A=1"],
  ["no value", "a"],
  ["a key twice", "a=1,a=2"],
  ["33 members", Array.from({ length: 33 }, (_, index) => `a${index}=1`).join(",")],
  ["an equals sign in its value", "a=1=2"],
  ["a line break", "a=1\nb=2"],
])("a tracestate with %s is dropped alone", (_, tracestate) => {
  const headers: Record<string, string> = { traceparent: VALID, tracestate };
  dropWrongTrace(headers);
  expect(headers).toEqual({ traceparent: VALID });
});

test("a tracestate without a traceparent is dropped", () => {
  const headers: Record<string, string> = { tracestate: "a=1" };
  dropWrongTrace(headers);
  expect(headers).toEqual({});
});

test("headers of Redis entries and of NATS messages come out as they went in", () => {
  fc.assert(
    fc.property(CONTEXTS, (context) => {
      const message = messageOf("x", { headers: context });
      const fields = fieldsOf(message, "value").map((field) => Buffer.from(field));
      expect(ofEntry("1-0", fields, "value").headers).toEqual(context);
      expect(readHeaders(writeHeaders(natsHeaders(), message)).headers).toEqual(context);
    }),
  );
});

async function written(connector: SinkConnector, messages: readonly Message[]): Promise<void> {
  const sink = await connector.open(connectorScene("trace/out").context);
  opened.push(() => sink.close());
  expect((await sink.write(messages, unhurried)) ?? []).not.toContainEqual(expect.anything());
}

async function brokerUrl(): Promise<string> {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  opened.push(() => broker.close());
  return broker.url;
}

test("headers of Pulsar messages come out as they went in", async () => {
  const url = await brokerUrl();
  const source = await pulsarSource({ url, topic: "t", subscription: "s" }).open(
    connectorScene("trace/in").context,
  );
  opened.push(() => source.close());
  const messages = SOME.map((headers, index) => messageOf(index, { id: `${index}`, headers }));
  await written(pulsarSink({ url, topic: "t" }), messages);
  const read = await readCount(source, messages.length);
  expect(read.map(({ headers }) => ({ ...headers }))).toEqual(SOME);
  await source.ack(read);
});

async function serviceOf() {
  const service = await startService();
  opened.push(() => service.close());
  return service;
}

const traceOf = ({
  headers: { traceparent, tracestate },
}: {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): object => ({ traceparent, tracestate });

test("each request of an HTTP sink has the trace of its message", async () => {
  const service = await serviceOf();
  const messages = SOME.map((headers, index) => messageOf(index, { id: `${index}`, headers }));
  await written(httpSink({ url: service.url }), messages);
  const traces = new Map(service.requests.map((request) => [request.body, traceOf(request)]));
  expect([...traces].toSorted(([a], [b]) => Number(a) - Number(b))).toEqual(
    SOME.map((context, index) => [String(index), context]),
  );
});

/** A message for each. */
function of(...contexts: readonly Readonly<Record<string, string>>[]): readonly Message[] {
  return contexts.map((headers, index) => messageOf(index, { id: `${index}`, headers }));
}

test("a request for several messages has their trace if it is one, and else none", async () => {
  const service = await serviceOf();
  const sink = await httpSink({ url: service.url, batch: {} }).open(connectorScene().context);
  opened.push(() => sink.close());
  const same = CONTEXT;
  const { traceparent } = same;
  await sink.write(of(same, same), unhurried);
  await sink.write(of({ traceparent, tracestate: "a=1" }, same), unhurried);
  await sink.write(of(same, { ...same, traceparent: VALID }), unhurried);
  await sink.write(of(same, {}), unhurried);
  expect(service.requests.map(traceOf)).toEqual([
    same,
    { traceparent, tracestate: undefined },
    { traceparent: undefined, tracestate: undefined },
    { traceparent: undefined, tracestate: undefined },
  ]);
});

test("a trace goes from a request through a map and a broker to the request of a sink, and a wrong one does not", async () => {
  const url = await brokerUrl();
  const service = await serviceOf();
  const told: string[] = [];
  const run = async (name: string, source: SourceConnector, sink: SinkConnector): Promise<void> => {
    const pipeline = await startPipeline(
      {
        name,
        source: { name: "in", source },
        // A map that sets headers of its own keeps the trace.
        maps: [
          {
            name: "map",
            map: mapFunction(({ value }: Message) => ({ value, headers: { by: "map" } })),
          },
        ],
        sink: { name: "out", sink },
      },
      {
        observe: (event) => {
          if (event.kind === "connector") told.push(event.event.text);
        },
      },
    );
    opened.push(() => pipeline.stop());
  };
  await run(
    "second",
    pulsarSource({ url, topic: "t", subscription: "s", format: "json" }),
    httpSink({ url: service.url }),
  );
  await run("first", httpSource({ listen: "127.0.0.1:0" }), pulsarSink({ url, topic: "t" }));
  const address = /at (http:\S+)/.exec(told.join("\n"))?.[1] ?? "";
  const post = (context: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(address, {
      method: "POST",
      body: "1",
      headers: { "content-type": "application/json", ...context },
    });
  const context = CONTEXT;
  expect((await post(context)).status).toBe(200);
  await until("the first request", () => service.requests.length === 1);
  expect((await post({ ...context, traceparent: "00-1" })).status).toBe(200);
  await until("the second request", () => service.requests.length === 2);
  expect(service.requests.map(traceOf)).toEqual([
    context,
    { traceparent: undefined, tracestate: undefined },
  ]);
});

test("a sink without headers takes messages with a trace", async () => {
  await written(blackhole(), [messageOf(1, { headers: CONTEXT })]);
});
