import { PassThrough } from "node:stream";
import type { Dispatcher } from "undici";
import { expect, test } from "vitest";
import { HttpExchange } from "./http-exchange.ts";

const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;

test("an upgrade that was not asked for closes its socket and gives the connection back", async () => {
  let givenBack = 0;
  const exchange = new HttpExchange(Infinity, { onSent: () => {}, onOver: () => givenBack++ });
  const socket = new PassThrough();
  exchange.onRequestStart(controller);
  exchange.onRequestUpgrade(controller, 101, {}, socket);
  await expect(exchange.answered).rejects.toThrow(/upgrade/);
  expect([givenBack, socket.destroyed]).toEqual([1, true]);
});
