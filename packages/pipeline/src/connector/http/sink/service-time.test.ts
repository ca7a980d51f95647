import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { ServiceTime } from "./service-time.ts";

function record(service: ServiceTime, ms: number, count: number): void {
  for (let n = 0; n < count; n++) service.record(ms);
}

test("the mean time of requests is compared with the best of the last minutes", () => {
  const service = new ServiceTime(new VirtualTimer());
  expect(service.describe()).toBe("");
  record(service, 61, 20);
  expect(service.describe()).toBe("61 ms");
  record(service, 105, 200);
  expect(service.describe()).toBe("105 ms, 72 % longer than at its best");
});

test("a service that has been slower for ten minutes has another best", async () => {
  const timer = new VirtualTimer();
  const service = new ServiceTime(timer);
  record(service, 50, 20);
  for (let minute = 0; minute < 11; minute++) {
    await timer.advance(60_000);
    record(service, 100, 100);
  }
  expect(service.describe()).toBe("100 ms");
});

test("the first requests, which open connections, are no best to compare with", () => {
  const service = new ServiceTime(new VirtualTimer());
  record(service, 1, 9);
  expect(service.longerPart).toBe(0);
});
