import { VirtualTimer } from "@sluice/core/testing";
import { encodeSendFrame } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { Ingress } from "../ingress/ingress.ts";
import { CountedByteBudget } from "../memory/counted-byte-budget.ts";
import { decodeClientFrame, isSend } from "../relay/relay-commands.ts";
import type { RelayEvent } from "../relay/relay-event.ts";
import { IngressAdmission, keepSend } from "./ingress-admission.ts";
import type { RelayedSend } from "./ingress-admission.ts";

test("a held SEND of a large chunk is a copy that keeps nothing of the chunk", () => {
  const metadata = { producerName: "p", sequenceId: 1n, publishTime: 1n };
  const send = encodeSendFrame(
    { producerId: 3n, sequenceId: 4n },
    metadata,
    Buffer.alloc(100, "x"),
  );
  const chunk = Buffer.alloc(65_536);
  send.copy(chunk);
  const frame = decodeClientFrame(chunk.subarray(0, send.length));
  if (!isSend(frame)) throw new Error("not read as a SEND");
  const kept = keepSend({ producer: 1, frame }).item.frame;
  chunk.fill(0);
  expect(kept.bytes.equals(send)).toBe(true);
  expect(kept.command.body).toMatchObject({ producerId: 3n });
  for (const part of [kept, kept.command, kept.command.body])
    for (const value of Object.values(part))
      if (Buffer.isBuffer(value)) expect(value.buffer).not.toBe(chunk.buffer);
});

test("a notice reaches the relay after the ingress is done, at the time of the clock", async () => {
  const memory = new CountedByteBudget(2 ** 20, () => {});
  const ingress = new Ingress<RelayedSend>(
    {},
    { memory, keep: keepSend, onWakeAt: () => {}, nowMs: 0 },
  );
  const timer = new VirtualTimer();
  await timer.advance(70);
  const told: (readonly [RelayEvent["kind"], number])[] = [];
  const admission = new IngressAdmission(ingress, "client:1", timer, ({ kind }, nowMs) => {
    told.push([kind, nowMs]);
  });
  admission.notify({ producerId: 1n, requestId: 1n, reason: "topic-rate", pauseMs: 10 });
  expect(told).toEqual([]);
  await Promise.resolve();
  expect(told).toEqual([["notice", timer.now()]]);
});
