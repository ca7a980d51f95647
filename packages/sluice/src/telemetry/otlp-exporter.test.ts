import { VirtualTimer } from "@sluice/core/testing";
import type { PartEvent } from "@sluice/gateway";
import { expect, test } from "vitest";
import { OtlpExporter } from "./otlp-exporter.ts";
import type { OtlpAnswer } from "./otlp-exporter.ts";

const OK: OtlpAnswer = { status: 200, body: "{}" };

function newWorld(answer: (count: number) => OtlpAnswer | Promise<OtlpAnswer>) {
  const timer = new VirtualTimer();
  const told: PartEvent[] = [];
  const sent: string[] = [];
  const exporter = new OtlpExporter(
    {
      url: "http://127.0.0.1:4318/v1/metrics?key=hunter2",
      headers: {},
      intervalMs: 1_000,
      timeoutMs: 100,
      isCompressed: false,
      resource: { "service.name": "shop" },
    },
    {
      collect: (to) => {
        to.add({ name: "up", help: "Up.", type: "gauge" }, [[{}, sent.length]]);
        return Promise.resolve();
      },
      send: async (body) => {
        sent.push(body);
        return answer(sent.length);
      },
      timer,
      wallClock: timer,
      scope: { name: "sluice", version: "1" },
      instance: { "service.instance.id": "a:1" },
      tell: (event) => told.push(event),
    },
  );
  return { timer, told, sent, exporter };
}

test("metrics are exported at every interval, and once more at the end", async () => {
  const { timer, told, sent, exporter } = newWorld(() => OK);
  await timer.advance(2_500);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toContain('"timeUnixNano":"2000000000"');
  expect(sent[1]).toContain('{"key":"service.instance.id","value":{"stringValue":"a:1"}}');
  await exporter.close();
  expect(sent).toHaveLength(3);
  expect(told).toEqual([]);
  expect(timer.sleeping).toBe(0);
});

test("exports that fail are told once, and once that they arrive again", async () => {
  const { timer, told, exporter } = newWorld((count) =>
    count === 2 || count === 3 ? { status: 503, body: "busy" } : OK,
  );
  await timer.advance(5_000);
  expect(told.map(({ kind }) => kind)).toEqual(["flow-telemetry-lost", "flow-telemetry-back"]);
  expect(told[0]?.text).toBe(
    "metrics do not reach http://127.0.0.1:4318/v1/metrics: it answered 503; exports go on every 1000 ms",
  );
  await exporter.close();
});

test.each<[string, () => OtlpAnswer | Promise<OtlpAnswer>, string]>([
  [
    "is refused",
    () => Promise.reject(new Error("fetch failed", { cause: new Error("refused") })),
    "refused",
  ],
  ["has no answer", () => new Promise(() => {}), "no answer within 100 ms"],
  [
    "is partly rejected",
    () => ({
      status: 200,
      body: '{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}',
    }),
    "it rejected 3 data points: too old",
  ],
])(
  "an export that %s is told with its reason, and the next one is tried",
  async (_, answer, why) => {
    const { timer, told, sent, exporter } = newWorld(answer);
    await timer.advance(3_500);
    expect(sent.length).toBeGreaterThanOrEqual(3);
    expect(told).toHaveLength(1);
    expect(told[0]?.text).toContain(`: ${why}; exports go on`);
    const closed = exporter.close();
    await timer.advance(100);
    await closed;
    expect(timer.sleeping).toBe(0);
  },
);

test("a close gives up an export without an answer, and ends within one time-out", async () => {
  const { timer, told, sent, exporter } = newWorld(() => new Promise(() => {}));
  await timer.advance(1_010);
  expect(sent).toHaveLength(1);
  let isClosed = false;
  const closed = exporter.close().then(() => (isClosed = true));
  await timer.advance(99);
  expect([sent.length, isClosed]).toEqual([2, false]);
  await timer.advance(1);
  await closed;
  expect(told.map(({ text }) => text)).toEqual([
    expect.stringContaining("no answer within 100 ms"),
  ]);
  expect(timer.sleeping).toBe(0);
});
