import fc from "fast-check";
import { expect, test } from "vitest";
import { Origins } from "./origins.ts";
import { urlOf } from "./request-like.ts";

const HOSTS = ["a.example", "b:81", "[::1]:81"];

/** What an address can be made of, with whatever may be taken for the end of its host. */
const part = fc.constantFrom(
  "http://",
  "https://",
  "HTTP://",
  "a.example",
  "A.example",
  "b",
  "[::1]",
  ":80",
  ":81",
  ":443",
  "/",
  "//",
  "\\",
  "?",
  "#",
  "@",
  " ",
  "\n",
  "..",
  "x",
);
const address = fc.oneof(
  fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
  fc
    .tuple(
      fc.constantFrom("http://", "https://"),
      fc.constantFrom(...HOSTS),
      fc.array(part, { maxLength: 4 }),
    )
    .map(([scheme, host, rest]) => `${scheme}${host}${rest.join("")}`),
);

test("an origin is the one that the address has when it is parsed, whatever was seen before", () => {
  fc.assert(
    fc.property(fc.array(address, { minLength: 1, maxLength: 30 }), (addresses) => {
      const origins = new Origins();
      for (const host of HOSTS) origins.of(`http://${host}/`);
      for (const each of addresses) expect(origins.of(each)).toBe(urlOf(each)?.origin);
    }),
    { numRuns: 1000 },
  );
});

test("more origins than are remembered are read all the same", () => {
  const origins = new Origins();
  for (let i = 0; i < 2500; i++)
    expect(origins.of(`http://h${i % 1250}/path`)).toBe(`http://h${i % 1250}`);
});

test("a URL and a request have the origins of their addresses", () => {
  const origins = new Origins();
  expect(origins.of(new URL("http://a.example/x"))).toBe("http://a.example");
  expect(origins.of(new Request("http://a.example/x"))).toBe("http://a.example");
  expect(origins.of("nowhere")).toBeUndefined();
});
