import { nextTurn } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import type { DocumentStore, LoadedDocuments } from "../../storage/document/document-store.ts";
import { MemoryTopicLog } from "../../storage/log/memory-topic-log.ts";
import { StorageError } from "../../storage/storage-error.ts";
import { decodeCursor } from "../../storage/cursor/cursor-codec.ts";
import { Cursor } from "../../subscription/cursor/cursor.ts";
import { CursorKeeper } from "./cursor-keeper.ts";

/** Notes every save; fails while it is full, and waits while it is busy. */
class NotingStore implements DocumentStore {
  readonly saves: string[] = [];
  isFull = false;
  busy: Promise<void> = Promise.resolve();

  load(): Promise<LoadedDocuments> {
    return Promise.resolve({ documents: new Map(), damaged: new Map() });
  }

  async save(name: string, bytes: Uint8Array): Promise<void> {
    await this.busy;
    if (this.isFull) throw new StorageError("full", "no room");
    this.saves.push(`${name} before ${decodeCursor(bytes).ackedBefore.entryId}`);
  }

  async remove(name: string): Promise<void> {
    await this.busy;
    // It begins when a save before it has ended.
    await nextTurn();
    this.saves.push(`${name} removed`);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function scene(): Promise<{
  readonly timer: VirtualTimer;
  readonly store: NotingStore;
  readonly keeper: CursorKeeper;
  readonly cursor: Cursor;
  readonly acknowledge: () => void;
}> {
  const log = new MemoryTopicLog();
  for (let count = 0; count < 10; count++)
    await log.append({ parts: [Buffer.alloc(1)], messageCount: 1, publishedAtMs: 0 });
  const timer = new VirtualTimer();
  const store = new NotingStore();
  const keeper = new CursorKeeper(timer, store, { saveMs: 1000 });
  const cursor = Cursor.startingAt(log, log.first);
  const acknowledge = (): void => {
    cursor.acknowledge({ position: cursor.ackedBefore });
    keeper.note("s", cursor);
  };
  return { timer, store, keeper, cursor, acknowledge };
}

test("a cursor that changes often is saved once in its time, as it is then", async () => {
  const { timer, store, keeper, acknowledge } = await scene();
  acknowledge();
  await timer.advance(999);
  acknowledge();
  expect(store.saves).toEqual([]);
  await timer.advance(1);
  expect(store.saves).toEqual(["s before 2"]);
  await timer.advance(5000);
  expect(store.saves).toHaveLength(1);
  acknowledge();
  await timer.advance(1000);
  expect(store.saves).toEqual(["s before 2", "s before 3"]);
  await keeper.close();
  expect(timer.sleeping).toBe(0);
});

test("a save that fails is tried again, and tells why until it succeeds", async () => {
  const { timer, store, keeper, acknowledge } = await scene();
  store.isFull = true;
  acknowledge();
  await timer.advance(3000);
  expect(keeper.failure?.message).toBe("no room");
  store.isFull = false;
  await timer.advance(1000);
  expect(store.saves).toEqual(["s before 1"]);
  expect(keeper.failure).toBeUndefined();
});

test("closing saves what has changed, and leaves nothing that sleeps", async () => {
  const { timer, store, keeper, acknowledge } = await scene();
  acknowledge();
  await keeper.close();
  expect(store.saves).toEqual(["s before 1"]);
  expect(timer.sleeping).toBe(0);
  acknowledge();
  expect(timer.sleeping).toBe(0);
});

test("a cursor that is removed is not saved again", async () => {
  const { timer, store, keeper, acknowledge } = await scene();
  acknowledge();
  await keeper.remove("s");
  await timer.advance(1000);
  await keeper.close();
  expect(store.saves).toEqual(["s removed"]);
});

test("a cursor that is removed while its save fails is not saved again", async () => {
  const { timer, store, keeper, acknowledge } = await scene();
  const waiting: (() => void)[] = [];
  store.busy = new Promise((resolve) => {
    waiting.push(resolve);
  });
  store.isFull = true;
  acknowledge();
  await timer.advance(1000);
  const removed = keeper.remove("s");
  for (const go of waiting) go();
  await removed;
  store.isFull = false;
  await timer.advance(5000);
  await keeper.close();
  expect(store.saves).toEqual(["s removed"]);
});
