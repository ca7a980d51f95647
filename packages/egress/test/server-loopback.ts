import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { nextTurn } from "@sluice/core/system";
import { expect, onTestFinished } from "vitest";

/** Serves on a free port of the loopback until the test is over; answers where. */
export async function serve(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Waits for what the other end of a socket brings about. */
export async function eventually(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000 && !holds(); turn++) await nextTurn();
  expect(holds()).toBe(true);
}

/** What a handler waits for until the test lets it go on. */
export class Latch {
  #resolve: (() => void) | undefined;
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.#resolve = resolve;
  });

  open(): void {
    this.#resolve?.();
  }
}
