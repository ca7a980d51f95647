import fc from "fast-check";
import { expect, test } from "vitest";
import { batchedBodies, bytesOf, halves, singleBody } from "./request-body.ts";
import type { RequestBody } from "./request-body.ts";

const message = (value: unknown): { id: string; value: unknown; headers: object } => ({
  id: "1",
  value,
  headers: {},
});
const messagesOf = (values: readonly unknown[]): Parameters<typeof batchedBodies>[0] =>
  values.map(message) as Parameters<typeof batchedBodies>[0];

test("bodies have all messages once, in order, and keep to both bounds unless one message is larger", () => {
  const bounds = fc.record({
    format: fc.constantFrom("json" as const, "ndjson" as const),
    messagesMax: fc.integer({ min: 1, max: 10 }),
    bytesMax: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), bounds, (values, settings) => {
      const { bodies, unsendable } = batchedBodies(messagesOf(values), settings);
      expect(unsendable).toEqual([]);
      expect(bodies.flatMap(({ places }) => places)).toEqual(values.map((_, place) => place));
      for (const body of bodies) {
        expect(body.places.length).toBeLessThanOrEqual(settings.messagesMax);
        const bytes = bytesOf(body);
        if (body.places.length > 1) expect(bytes.length).toBeLessThanOrEqual(settings.bytesMax + 1);
        const text = bytes.toString();
        const read: unknown[] =
          settings.format === "json"
            ? (JSON.parse(text) as unknown[])
            : text
                .split("\n")
                .slice(0, -1)
                .map((line) => JSON.parse(line) as unknown);
        expect(JSON.stringify(read)).toBe(
          JSON.stringify(body.places.map((place) => values[place])),
        );
      }
    }),
  );
});

test("halves of a body are all of it, in order, down to single messages", () => {
  const [body] = batchedBodies(messagesOf([1, 2, 3]), {
    format: "ndjson",
    messagesMax: 9,
    bytesMax: 99,
  }).bodies;
  const [left, right] = halves(body as RequestBody);
  expect([left?.places, right?.places]).toEqual([[0, 1], [2]]);
  expect(bytesOf(right as RequestBody).toString()).toBe("3\n");
});

test("bytes go into NDJSON as they are, or on one line if they have several", () => {
  const settings = { format: "ndjson", messagesMax: 9, bytesMax: 999 } as const;
  const values = [Buffer.from('{"a":1}'), Buffer.from('{\n"a":1\n}'), Buffer.from("no\njson")];
  const { bodies, unsendable } = batchedBodies(messagesOf(values), settings);
  expect(bytesOf(bodies[0] as RequestBody).toString()).toBe('{"a":1}\n{"a":1}\n');
  expect(unsendable.map(({ place }) => place)).toEqual([2]);
});

test("text becomes a JSON string in a batch, and undefined null", () => {
  const settings = { format: "json", messagesMax: 9, bytesMax: 999 } as const;
  const { bodies } = batchedBodies(messagesOf(["a\nb", undefined]), settings);
  expect(bytesOf(bodies[0] as RequestBody).toString()).toBe('["a\\nb",null]');
});

test.each([
  ["text", "text/plain; charset=utf-8", "text"],
  [Buffer.from("bytes"), "application/octet-stream", "bytes"],
  [{ a: 1 }, "application/json", '{"a":1}'],
  [undefined, "application/json", "null"],
])("a single message %j is sent as %s", (value, type, text) => {
  const body = singleBody({ id: "1", value, headers: {} }, 0);
  expect([body.contentType, bytesOf(body).toString()]).toEqual([type, text]);
});
