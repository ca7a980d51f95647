/** A broker without file descriptors for more clients. */
import { systemTimer } from "@sluice/core/system";
import { expect, test } from "vitest";
import { RawClient } from "../raw-client.ts";
import { startBrokerProcessWithFiles } from "./processes.ts";

/** Loading the code of a broker takes a few hundred at once. */
const FILES_MAX = 512;

async function ping(client: RawClient): Promise<void> {
  client.send("ping", {});
  await client.next("pong");
}

/** Tries until the broker has noticed that clients have left; else the test reaches its time-out. */
async function letIn(port: number): Promise<RawClient> {
  for (;;) {
    const client = await RawClient.open(port);
    client.send("connect", { clientVersion: "raw", protocolVersion: 21 });
    if ((await client.nextAny()).command.kind === "connected") return client;
    client.close();
    await systemTimer.sleep(50);
  }
}

test("without file descriptors new clients are refused with the reason, connected clients are served, and it heals", async () => {
  const broker = await startBrokerProcessWithFiles(FILES_MAX);
  const clients: RawClient[] = [];
  const refusals: string[] = [];
  while (refusals.length < 20) {
    const client = await RawClient.open(broker.port);
    client.send("connect", { clientVersion: "raw", protocolVersion: 21 });
    const { command } = await client.nextAny();
    if (command.kind === "error") refusals.push(command.body.message);
    else clients.push(client);
    expect(clients.length).toBeLessThan(FILES_MAX);
  }
  expect(clients.length).toBeGreaterThan(FILES_MAX / 4);
  for (const refusal of refusals) expect(refusal).toMatch(/no file descriptors.*EMFILE.*ulimit/);
  for (const client of clients) await ping(client);

  const { reasons, faults } = await broker.report();
  expect(faults).toEqual([]);
  expect(Object.keys(reasons)).toEqual([expect.stringContaining("EMFILE")]);
  // The process does not retry accept in a loop: turns of the event loop are as short as ever.
  await broker.loop();
  await systemTimer.sleep(500);
  const { cpu } = await broker.loop();
  expect(cpu.p99Ms).toBeLessThan(20);

  for (const client of clients.splice(0, 10)) client.close();
  await ping(await letIn(broker.port));
  for (const client of clients) client.close();
});
