import fc from "fast-check";
import { expect, test } from "vitest";
import { formatPath, parsePath } from "./path.ts";

test.each([
  ["rows[4].ceiling", ["rows", 4, "ceiling"]],
  ["rows[4].members.web-1.share", ["rows", 4, "members", "web-1", "share"]],
  ["rows[4].members.b#2.share", ["rows", 4, "members", "b#2", "share"]],
  ['members["web.1"].share', ["members", "web.1", "share"]],
  ["members['web.1'].share", ["members", "web.1", "share"]],
  ['members["a\\"b"]', ["members", 'a"b']],
])("%s names %j", (text, path) => {
  expect(parsePath(text)).toEqual(path);
});

test.each(["", ".", "rows[", "rows[x]", "rows..t", "rows.", 'm["a]', "a b", "rows]"])(
  "%j is no path",
  (text) => {
    expect(parsePath(text)).toBeUndefined();
  },
);

test("any key can be named", () => {
  const segment = fc.oneof(fc.string({ minLength: 1 }), fc.nat(1000));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1 }), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    }),
  );
});
