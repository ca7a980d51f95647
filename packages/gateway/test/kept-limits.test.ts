/** Limits that were set while it ran: kept by a broker and by a gateway in front of a cluster. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { startBroker } from "../src/index.ts";
import type { AdministrableGateway, BrokerEvent } from "../src/index.ts";
import { endScene, startFront } from "./gateway-scene.ts";

interface Server extends AdministrableGateway {
  close(): Promise<void>;
}

interface Started {
  readonly folder: string;
  readonly events?: BrokerEvent[];
}

const LIMITS = { topics: { orders: { messages: 1_000 } } };

const BACKENDS: readonly (readonly [string, (options: Started) => Promise<Server>])[] = [
  [
    "the embedded broker",
    ({ folder, events = [] }) =>
      startBroker({
        listen: "pulsar://127.0.0.1:0",
        data: { folder },
        limits: LIMITS,
        observe: (event) => events.push(event),
      }),
  ],
  [
    "a gateway in front of a cluster",
    async ({ folder, events = [] }) => {
      const { gateway } = await startFront("pulsar://127.0.0.1:1", {
        data: { folder },
        limits: LIMITS,
        observe: (event) => events.push(event),
      });
      return gateway;
    },
  ],
];

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-kept-limits-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "data");
}

afterEach(endScene);

describe.each(BACKENDS)("%s", (_, start) => {
  test("keeps limits of every level over a restart, and gives the first ones back", async () => {
    const folder = await newFolder();
    const before = await start({ folder });
    const book = before.administered.limitBook;
    await book.set({ level: "topic", name: "orders" }, { messages: 5 });
    await book.set({ level: "namespace", name: "shop/eu" }, { bytes: 70 });
    await book.set({ level: "broker" }, { messages: 9_000 });
    await before.close();
    const after = await start({ folder });
    const kept = after.administered.limitBook;
    expect(kept.list()).toMatchObject([
      { target: { level: "broker" }, limit: { messages: 9_000 }, source: "live" },
      { target: { level: "namespace", name: "shop/eu" }, limit: { bytes: 70 } },
      { target: { level: "topic" }, limit: { messages: 5 }, source: "policy" },
    ]);
    await kept.unset({ level: "topic", name: "orders" });
    await after.close();
    const last = await start({ folder });
    expect(last.administered.limitBook.get({ level: "topic", name: "orders" })).toMatchObject({
      limit: { messages: 1_000 },
      source: "flow file",
    });
    await last.close();
  });

  test("does not start on a damaged limit, and names the file and the way out", async () => {
    const folder = await newFolder();
    const before = await start({ folder });
    await before.administered.limitBook.set({ level: "broker" }, { messages: 9_000 });
    await before.close();
    const [name = ""] = await readdir(join(folder, "documents"));
    const file = join(folder, "documents", name);
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    await writeFile(file, bytes);
    const events: BrokerEvent[] = [];
    const damage = {
      kind: "damaged",
      message: expect.stringMatching(
        /policy-limits.*restore it from a backup, or move it away/,
      ) as string,
      spot: { file },
    };
    await expect(start({ folder, events })).rejects.toMatchObject(damage);
    expect(events).toMatchObject([{ kind: "damaged", error: { spot: { file } } }]);
    await rm(file);
    // The folder was given back, so the next start has it.
    const after = await start({ folder });
    expect(after.administered.limitBook.get({ level: "broker" })).toBeUndefined();
    await after.close();
  });

  test("leaves a folder alone that another one has", async () => {
    const folder = await newFolder();
    const first = await start({ folder });
    await expect(start({ folder })).rejects.toMatchObject({ kind: "locked" });
    await first.close();
  });
});
