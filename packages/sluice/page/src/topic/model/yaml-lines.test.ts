import { expect, test } from "vitest";
import { yamlBytes, yamlLines, yamlText } from "./yaml-lines.ts";

const ORDERS = { kind: "topic", name: "public/default/orders" } as const;

test("a change is a line that goes and a line that comes; the rest stays", () => {
  const lines = yamlLines(
    ORDERS,
    { messages: 1_000, bytes: 10_000_000 },
    { messages: 1_500, bytes: 10_000_000 },
  );
  expect(lines).toEqual([
    { kind: "same", text: "topics:" },
    { kind: "same", text: '  "public/default/orders":' },
    { kind: "gone", text: "    messages: 1000/s" },
    { kind: "new", text: "    messages: 1500/s" },
    { kind: "same", text: "    bytes: 10MB/s" },
  ]);
  expect(yamlText(lines)).toBe(
    'topics:\n  "public/default/orders":\n    messages: 1500/s\n    bytes: 10MB/s\n',
  );
});

test("a limit that was not there is new with its key; without any limit there are no lines", () => {
  expect(yamlLines({ kind: "group", name: "analytics" }, undefined, { messages: 5 })).toEqual([
    { kind: "same", text: "groups:" },
    { kind: "new", text: "  analytics:" },
    { kind: "new", text: "    messages: 5/s" },
  ]);
  expect(yamlLines({ kind: "broker" }, undefined, {})).toEqual([]);
});

test("bytes keep their exact value in the largest unit that fits", () => {
  expect([10_000_000, 1_500_000, 64_000, 1_001, 2_000_000_000].map(yamlBytes)).toEqual([
    "10MB",
    "1500kB",
    "64kB",
    "1001",
    "2GB",
  ]);
});
