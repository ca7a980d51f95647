import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "../gate/gate.ts";
import { BodyHold } from "./body-hold.ts";

test("the permit of a body with several readers is kept until the last of them rests", async () => {
  const timer = new VirtualTimer();
  const gate = createGate({ concurrency: 1, runtime: { timer } });
  const { permit } = gate.tryAcquire();
  if (permit === undefined) throw new Error("no permit");
  const hold = new BodyHold(permit, 10);
  hold.read();
  hold.read();
  hold.rest();
  const waiting = gate.run(() => "started");
  await timer.advance(1000);
  expect(gate.waiting).toBe(1);
  hold.rest();
  await timer.advance(10);
  expect(await waiting).toBe("started");
});
