import { expect, test } from "vitest";
import { unreachable } from "./unreachable.ts";

const errorOf = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

const PLAIN = { host: "::1", port: 6650, isTls: false };
const TLS = { ...PLAIN, isTls: true };

test.each([
  [PLAIN, errorOf("ECONNREFUSED", "refused"), "refused; is a broker listening there?"],
  [PLAIN, errorOf("ENOTFOUND", "who?"), "who?; is the name right?"],
  [PLAIN, errorOf("ECONNRESET", "reset"), "reset"],
  [
    TLS,
    errorOf("ECONNRESET", "reset"),
    "reset; perhaps it is without TLS; the URL then begins with pulsar://",
  ],
  [
    TLS,
    errorOf("EPROTO", "wrong version\n"),
    "wrong version; perhaps it is without TLS; the URL then begins with pulsar://",
  ],
  [
    PLAIN,
    new AggregateError([errorOf("ECONNREFUSED", "both")]),
    "both; is a broker listening there?",
  ],
])("%o with %o is told with what may be wrong", (endpoint, cause, why) => {
  const error = unreachable(endpoint, cause);
  expect(error).toMatchObject({ code: "CONNECTION", cause });
  expect(error.message).toBe(`[::1]:6650 cannot be reached: ${why}`);
});
