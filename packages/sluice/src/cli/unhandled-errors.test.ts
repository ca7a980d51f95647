import { expect, test } from "vitest";
import { placeOf } from "./unhandled-errors.ts";

const thrown = (...frames: readonly string[]): Error =>
  Object.assign(new Error("x"), { stack: ["Error: x", ...frames].join("\n    at ") });

test.each([
  [
    "the module that threw, called by Sluice",
    thrown(
      "default (file:///maps/my%20map.mjs:2:38)",
      "#map (file:///node_modules/@sluice/pipeline/dist/run/a.js:1:2)",
    ),
    "/maps/my map.mjs:2:38",
  ],
  [
    "Sluice, called by Node",
    thrown(
      "Socket.emit (node:events:524:28)",
      "async f (file:///a/node_modules/@sluice/gateway/dist/x.js:3:4)",
    ),
    "/a/node_modules/@sluice/gateway/dist/x.js:3:4",
  ],
  [
    "the caller of a library",
    thrown("f (/a/node_modules/lib/i.js:1:1)", "/a/map.cjs:9:9"),
    "/a/map.cjs:9:9",
  ],
  ["nothing of a library alone", thrown("f (/a/node_modules/lib/i.js:1:1)"), undefined],
  [
    "nothing of Node alone",
    thrown("node:internal/deps/undici/undici:13510:13", "f (node:internal/a/b:1:1)"),
    undefined,
  ],
  ["nothing of undefined", undefined, undefined],
  ["nothing of an object without a text", Object.create(null), undefined],
])("an error names %s", (_, error, place) => {
  expect(placeOf(error)).toBe(place);
});
