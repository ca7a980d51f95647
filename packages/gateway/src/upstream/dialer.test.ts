import { VirtualTimer } from "@sluice/core/testing";
import { parseServiceUrl } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { Dialer } from "./dialer.ts";
import type { Resolve } from "./dialer.ts";
import { TargetGuard } from "./target-guard.ts";

const service = parseServiceUrl("pulsar://broker:6650");
const CONNECT_MS = 5_000;

function dialerWith(timer: VirtualTimer, resolve: Resolve): Dialer {
  return new Dialer(service, CONNECT_MS, {
    timer,
    guard: new TargetGuard(service, { hosts: ["other:6650"] }),
    open: () => Promise.reject(new Error("not in this test")),
    resolve,
  });
}

/** A name server that never answers. */
const silent: Resolve = () => new Promise(() => {});

test("a name server that does not answer is given up after connectMs", async () => {
  const timer = new VirtualTimer();
  const dialed = dialerWith(timer, silent).dial(undefined, new AbortController().signal);
  const failed = expect(dialed).rejects.toThrow(/broker:6650 .*no answer of DNS in 5000 ms/);
  await timer.advance(CONNECT_MS);
  await failed;
});

test("a name is not waited for once the client is gone", async () => {
  const gone = new AbortController();
  const dialed = dialerWith(new VirtualTimer(), silent).dial(undefined, gone.signal);
  const failed = expect(dialed).rejects.toThrow(/gone/);
  gone.abort(new Error("gone"));
  await failed;
});

test("the service URL is resolved once for all addresses of a broker", async () => {
  const asked: string[] = [];
  const dialer = dialerWith(new VirtualTimer(), (host) => {
    asked.push(host);
    return Promise.resolve(host === "other" ? ["10.0.0.1", "10.0.0.2", "10.0.0.3"] : ["10.1.0.1"]);
  });
  const target = { host: "other", port: 6650 };
  await expect(dialer.dial(target, new AbortController().signal)).rejects.toThrow(/not in this/);
  expect(asked).toEqual(["other", "broker"]);
});
