import { describe, expect, test } from "vitest";
import type { Verdict } from "../outcome/verdict.ts";
import { followsRedirects, heedRedirects } from "./redirect.ts";

const safe: Verdict = { outcome: "busy", retriable: "safe", scope: "over-quota" };

/** What is left of a verdict on an attempt that answers or fails so. */
async function heard(url: string, attempt: () => Promise<Response>, verdict = safe) {
  const verdicts: Verdict[] = [];
  const heeding = heedRedirects(
    { work: attempt, onVerdict: (judged) => verdicts.push(judged) },
    url,
  );
  await Promise.resolve(heeding.work(new AbortController().signal)).catch(() => undefined);
  heeding.onVerdict(verdict);
  return verdicts[0]?.retriable;
}

describe("an error in connecting", () => {
  const refused = { code: "ECONNREFUSED", syscall: "connect" };

  test.each<[string, string, object]>([
    ["its address", "http://10.0.0.1:81/", { ...refused, address: "10.0.0.1", port: 81 }],
    ["its address and usual port", "http://10.0.0.1/", { address: "10.0.0.1", port: 80 }],
    ["its address and secure port", "https://10.0.0.1/", { address: "10.0.0.1", port: 443 }],
    ["its address of six parts", "http://[::1]:81/", { address: "::1", port: 81 }],
    ["its name", "http://a.example/", { code: "ENOTFOUND", hostname: "a.example" }],
    ["its address, in a cause", "http://10.0.0.1/", { cause: { address: "10.0.0.1", port: 80 } }],
    [
      "its address, as one of all",
      "http://10.0.0.1/",
      { errors: [{ address: "10.0.0.1", port: 80 }] },
    ],
  ])("that is about %s leaves the request not begun", async (_what, url, parts) => {
    const error = new TypeError("fetch failed", { cause: Object.assign(new Error("no"), parts) });
    expect(await heard(url, () => Promise.reject(error))).toBe("safe");
  });

  test.each<[string, string, object]>([
    ["another address", "http://10.0.0.1/", { ...refused, address: "10.0.0.2", port: 80 }],
    ["another port", "http://10.0.0.1/", { ...refused, address: "10.0.0.1", port: 81 }],
    ["another name", "http://a.example/", { code: "ENOTFOUND", hostname: "b.example" }],
    [
      "an address that a name may stand for",
      "http://a.example/",
      { address: "10.0.0.1", port: 80 },
    ],
    ["nothing that it says", "http://10.0.0.1/", { code: "UND_ERR_CONNECT_TIMEOUT" }],
  ])("that is about %s does not", async (_what, url, parts) => {
    const error = new TypeError("fetch failed", { cause: Object.assign(new Error("no"), parts) });
    expect(await heard(url, () => Promise.reject(error))).toBe("if-idempotent");
  });
});

test.each<[string, object, string]>([
  ["was not redirected", { redirected: false }, "safe"],
  ["was redirected", { redirected: true }, "if-idempotent"],
  ["does not say so", {}, "if-idempotent"],
])("an answer that %s", async (_what, answer, retriable) => {
  expect(await heard("http://a.example/", () => Promise.resolve(answer as Response))).toBe(
    retriable,
  );
});

test("what is never to be made again stays so", async () => {
  const never: Verdict = { outcome: "ignored", retriable: "never" };
  const redirected = { redirected: true } as Response;
  expect(await heard("http://a.example/", () => Promise.resolve(redirected), never)).toBe("never");
});

test.each<[Parameters<typeof fetch>[0], RequestInit | undefined, boolean]>([
  ["http://a.example/", undefined, true],
  ["http://a.example/", { redirect: "manual" }, false],
  [new Request("http://a.example/"), undefined, true],
  [new Request("http://a.example/", { redirect: "error" }), undefined, false],
  [new Request("http://a.example/", { redirect: "error" }), { redirect: "follow" }, true],
])("redirects of %s with %o are followed: %s", (input, init, follows) => {
  expect(followsRedirects(input, init)).toBe(follows);
});
