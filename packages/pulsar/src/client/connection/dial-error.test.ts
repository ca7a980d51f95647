import { expect, test } from "vitest";
import { dialError } from "./dial-error.ts";

const errorOf = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

const PLAIN = { host: "::1", port: 6650, isTls: false };
const TLS = { ...PLAIN, isTls: true };

test.each([
  [PLAIN, errorOf("ECONNREFUSED", "refused"), "refused; is a broker listening there?"],
  [PLAIN, errorOf("ENOTFOUND", "who?"), "who?; is the host name right?"],
  [PLAIN, errorOf("ECONNRESET", "reset"), "reset"],
  [
    TLS,
    errorOf("ECONNRESET", "reset"),
    "reset; is the port one without TLS? The URL then begins with pulsar://",
  ],
  [
    TLS,
    errorOf("EPROTO", "wrong version\n"),
    "wrong version; is the port one without TLS? The URL then begins with pulsar://",
  ],
  [
    PLAIN,
    new AggregateError([errorOf("ECONNREFUSED", "both")]),
    "both; is a broker listening there?",
  ],
])("%o with %o becomes an error with the likely cause", (endpoint, cause, why) => {
  const error = dialError(endpoint, cause);
  expect(error).toMatchObject({ code: "CONNECTION", cause });
  expect(error.message).toBe(`[::1]:6650 cannot be reached: ${why}`);
});
