import { InvariantError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatStringList, INTEGER_MAX, parseStringList } from "./structured-field.ts";
import type { SentParameter } from "./structured-field.ts";

const PRINTABLE = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code)),
});

/** The members as plain values: `[value, { key: parameter }]`. */
function read(text: string): unknown {
  return parseStringList(text)?.map(({ value, parameters }) => [
    value,
    Object.fromEntries(parameters),
  ]);
}

test.each([
  ["", []],
  ["  ", []],
  ['"a"', [["a", {}]]],
  ['  "a"  ', [["a", {}]]],
  ['""', [["", {}]]],
  [String.raw`"a\"b\\c"`, [[String.raw`a"b\c`, {}]]],
  [
    '"a","b"',
    [
      ["a", {}],
      ["b", {}],
    ],
  ],
  [
    '"a" \t, \t"b"',
    [
      ["a", {}],
      ["b", {}],
    ],
  ],
  [
    '"a";x=1; y=-2',
    [["a", { x: { kind: "integer", value: 1 }, y: { kind: "integer", value: -2 } }]],
  ],
  ['"a";x=-0', [["a", { x: { kind: "integer", value: 0 } }]]],
  ['"a";x=1;x="2"', [["a", { x: { kind: "string", value: "2" } }]]],
  ['"a";*x.y-z_0=1', [["a", { "*x.y-z_0": { kind: "integer", value: 1 } }]]],
  ['"a";x=999999999999999', [["a", { x: { kind: "integer", value: INTEGER_MAX } }]]],
  ['"a";pk=:QXBwLTk5OQ==:', [["a", { pk: { kind: "bytes", base64: "QXBwLTk5OQ==" } }]]],
  // Padding left out, and bits that the padding hides.
  ['"a";pk=:QXBwLTk5OQ:', [["a", { pk: { kind: "bytes", base64: "QXBwLTk5OQ==" } }]]],
  ['"a";pk=:cHsdsRa894==:', [["a", { pk: { kind: "bytes", base64: "cHsdsRa89w==" } }]]],
  ['"a";pk=::', [["a", { pk: { kind: "bytes", base64: "" } }]]],
])("%j is a list", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test.each([
  "x",
  "x=1.5",
  "x=-12.125",
  "x=tok/en:1",
  "x=*",
  "x=?0",
  "x=@1659578233",
  'x=%"f%c3%bc"',
])("a parameter %j is well-formed and of no use", (parameter) => {
  expect(read(`"a";${parameter}`)).toEqual([["a", { x: { kind: "other" } }]]);
});

test.each([
  "a",
  "1",
  '("a")',
  '"a',
  '"a" "b"',
  '"a",',
  '"a",,"b"',
  ',"a"',
  '\t"a"',
  String.raw`"a\n"`,
  '"ü"',
  '"a\n"',
  '"a";',
  '"a";X=1',
  '"a"; =1',
  '"a" ;x=1',
  '"a";x= 1',
  '"a";x=',
  '"a";x=1.',
  '"a";x=1.2345',
  '"a";x=1234567890123.1',
  '"a";x=1000000000000000',
  '"a";x=--1',
  '"a";x=:a:',
  '"a";x=:a b:',
  '"a";x=?2',
  '"a";x=@1.5',
  '"a";x=%"%C3"',
  '"a";x=%"%ff"',
  `"${"a".repeat(20_000)}"`,
])("%j is no list", (text) => {
  expect(parseStringList(text)).toBeUndefined();
});

test("what is written is read again", () => {
  const parameter: fc.Arbitrary<SentParameter> = fc.oneof(
    fc.record({ kind: fc.constant("string" as const), value: PRINTABLE }),
    fc.record({
      kind: fc.constant("integer" as const),
      value: fc.integer({ min: -INTEGER_MAX, max: INTEGER_MAX }),
    }),
    fc.record({
      kind: fc.constant("bytes" as const),
      base64: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
    }),
  );
  const parameters = fc
    .array(fc.tuple(fc.stringMatching(/^[a-z*][a-z0-9_.*-]*$/), parameter))
    .map((entries) => new Map(entries));
  fc.assert(
    fc.property(fc.array(fc.record({ value: PRINTABLE, parameters })), (items) => {
      expect(parseStringList(formatStringList(items))).toEqual(items);
    }),
  );
});

test("any text at all is a list or is refused, and the list can be split at any comma line", () => {
  const piece = fc.constantFrom(
    '"',
    "a",
    ";",
    "=",
    ",",
    " ",
    ":",
    "1",
    ".",
    "\\",
    "%",
    "@",
    "?",
    "-",
    '"a";r=1',
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(piece), (some, more) => {
      const [first, second] = [some.join(""), more.join("")];
      const [one, other] = [parseStringList(first), parseStringList(second)];
      if (one === undefined || other === undefined) return;
      if (one.length === 0 || other.length === 0) return;
      expect(parseStringList(`${first}, ${second}`)).toEqual([...one, ...other]);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["ü", {}],
  ["a\n", {}],
  ["a", { X: { kind: "integer", value: 1 } }],
  ["a", { x: { kind: "integer", value: 0.5 } }],
  ["a", { x: { kind: "integer", value: Number.NaN } }],
  ["a", { x: { kind: "integer", value: 1e15 } }],
  ["a", { x: { kind: "string", value: "ü" } }],
  ["a", { x: { kind: "bytes", base64: "a" } }],
  ["a", { x: { kind: "bytes", base64: "a:b=" } }],
] as const)("%j with %j cannot be written", (value, parameters) => {
  const item = { value, parameters: new Map<string, SentParameter>(Object.entries(parameters)) };
  expect(() => formatStringList([item])).toThrow(InvariantError);
});
