import { expect, test } from "vitest";
import { lineOf, parseAnswer } from "./protocol.ts";

test("a message is one line, whatever its value holds", () => {
  const line = lineOf("7", { id: "m", value: "a\nb", key: "k", headers: { h: "1" } });
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    id: "7",
    messageId: "m",
    value: "a\nb",
    key: "k",
    headers: { h: "1" },
  });
});

test("bytes are sent as base64 in a field of their own", () => {
  const line = lineOf("7", { id: "m", value: Buffer.from([0, 255]), headers: {} });
  expect(JSON.parse(line)).toEqual({ id: "7", messageId: "m", valueBase64: "AP8=", headers: {} });
});

test.each([
  ["debug", /no JSON object: "debug"/],
  ["[1]", /no JSON object/],
  ["{1}", /no JSON object/],
  ['{"outputs":[]}', /no id/],
])("%s is no answer", (line, text) => {
  expect(parseAnswer(line)).toMatch(text);
});

test.each([
  ['{"id":"1"}', "neither outputs nor error"],
  ['{"id":"1","outputs":{}}', "neither outputs nor error"],
  ['{"id":"1","outputs":[5]}', "it must be an object with a value"],
  ['{"id":"1","outputs":[{"key":"k"}]}', "neither value nor valueBase64"],
  ['{"id":"1","outputs":[{"value":1,"key":5}]}', "key of an output is no text"],
  ['{"id":"1","outputs":[{"value":1,"headers":{"a":1}}]}', "no object of texts"],
  ['{"id":"1","outputs":[{"value":1,"eventTimeMs":"x"}]}', "eventTimeMs of an output is no number"],
])("%s is a final failure of its message", (line, text) => {
  expect(parseAnswer(line)).toMatchObject({ id: "1", mapped: { isRetriable: false } });
  const answer = parseAnswer(line);
  const mapped = typeof answer === "string" ? [] : answer.mapped;
  expect("error" in mapped ? mapped.error.message : "").toContain(text);
});

test("an answer that is no UTF-8 is a final failure of its message", () => {
  const answer = parseAnswer('{"id":1,"outputs":[{"value":"Z\u{FFFD}rich"}]}', false);
  expect(answer).toMatchObject({
    id: "1",
    mapped: {
      isRetriable: false,
      error: { message: expect.stringContaining("no UTF-8") as string },
    },
  });
});

test("ids may be numbers, and an error may say whether it is final", () => {
  expect(parseAnswer('{"id":1,"error":"x"}')).toMatchObject({
    id: "1",
    mapped: { isRetriable: true },
  });
  expect(parseAnswer('{"id":1,"error":{"why":2},"retriable":false}')).toMatchObject({
    mapped: { isRetriable: false, error: { message: '{"why":2}' } },
  });
});
