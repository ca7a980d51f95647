import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PIECE_LENGTH, Redaction } from "@sluice/core/internal";
import { secretsIn } from "./secrets-in.ts";

/** Secrets of 1 to 1,000 characters: random, of few letters, and with everything that is escaped. */
const secret = fc.oneof(
  fc.string({ minLength: 1, maxLength: 1000 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1000 }),
  fc.string({ unit: fc.constantFrom("a", "B", "0"), minLength: 1, maxLength: 1000 }),
  fc.string({
    unit: fc.constantFrom("%", "/", '"', "\\", "\n", "é", " ", "x"),
    minLength: 1,
    maxLength: 1000,
  }),
);
// Characters that hardly any secret has, so that the rest of a message is a leak.
const around = fc.string({ unit: fc.constantFrom("·", "–"), maxLength: 400 });

/** What is left of a secret in a message: everything but the text around it and the replacement. */
function leftIn(shown: string): string {
  return shown.replaceAll(/[·–]|\*\*\*/g, "");
}

describe("a message", () => {
  test("has no piece of a secret, of any length and at any place", () => {
    fc.assert(
      fc.property(secret, around, around, (hidden, before, after) => {
        const shown = new Redaction([hidden]).apply(`${before}${hidden}${after}`);
        expect(leftIn(shown)).toBe("");
      }),
      { numRuns: 500 },
    );
  });

  test("has no piece of a secret that was cut at both ends", () => {
    const cut = fc.tuple(secret, fc.nat(1000), fc.nat(1000));
    fc.assert(
      fc.property(cut, around, around, ([hidden, from, to], before, after) => {
        const piece = hidden.slice(from % hidden.length, (to % hidden.length) + 1);
        const shown = new Redaction([hidden]).apply(`${before}${piece}${after}`);
        expect(leftIn(shown).length).toBeLessThan(PIECE_LENGTH);
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, (text: string) => string]>([
    ["percent-encoded", encodeURIComponent],
    ["percent-encoded in lower case", (text) => encodeURIComponent(text).toLowerCase()],
    ["JSON-escaped", (text) => JSON.stringify(text).slice(1, -1)],
    ["in upper case", (text) => text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())],
    ["as one line", (text) => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")],
  ])("has no piece of a secret that is %s", (_how, write) => {
    fc.assert(
      fc.property(secret, around, (hidden, before) => {
        const text = Buffer.from(hidden).toString();
        const shown = new Redaction([text]).apply(`${before}${write(text)}`);
        expect(leftIn(shown).length).toBeLessThan(PIECE_LENGTH);
      }),
      { numRuns: 300 },
    );
  });

  test("keeps everything that is not secret, on one line", () => {
    const redaction = new Redaction(["hunter2", "a-long-password"]);
    expect(redaction.apply("user hunter2\nat a-long-password, twice: a-long-pass")).toBe(
      "user *** at ***, twice: ***",
    );
    expect(redaction.apply("nothing to hide, not even a-long")).toBe(
      "nothing to hide, not even a-long",
    );
    expect(new Redaction([]).apply("as it is")).toBe("as it is");
    expect(new Redaction([""]).apply("as it is")).toBe("as it is");
  });
});

test("secrets are found wherever options of the store and of client libraries have them", () => {
  const options = {
    host: "public-host",
    username: "some-user",
    password: "first",
    url: "redis://url-user:url%2Fpass@host",
    sentinelPassword: "second",
    tls: { key: "PEM", ca: "public-ca" },
    redisOptions: { password: "third", tls: { key: [Buffer.from("fourth")] } },
    credentialsProvider: { password: "fifth" },
    defaults: { socket: { passphrase: "sixth" } },
    retryStrategy: () => null,
    db: 0,
  };
  const found = secretsIn(options);
  const expected = ["some-user", "first", "url-user", "url%2Fpass", "url/pass", "second", "PEM"];
  for (const each of [...expected, "third", "fourth", "fifth", "sixth"])
    expect(found).toContain(each);
  for (const each of ["public-host", "public-ca"]) expect(found).not.toContain(each);
  expect(secretsIn({ username: "default" })).toEqual([]);
});
