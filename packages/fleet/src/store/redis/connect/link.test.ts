import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { StoreError } from "../../store-error.ts";
import type { RedisConnection } from "./connection.ts";
import { RedisLink, TIMEOUTS_UNTIL_DEAD } from "./link.ts";

const TIMEOUT_MS = 100;

/** A connection whose outcome the test decides. */
class FakeConnection implements RedisConnection {
  isReady = false;
  isClosed = false;
  succeed: () => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.succeed = () => {
        this.isReady = true;
        resolve();
      };
      this.fail = reject;
    });
  }

  evalsha(): Promise<unknown> {
    return Promise.resolve();
  }

  eval(): Promise<unknown> {
    return Promise.resolve();
  }

  close(): void {
    this.isReady = false;
    this.isClosed = true;
  }
}

function setUp() {
  const timer = new VirtualTimer();
  const opened: FakeConnection[] = [];
  const open = (): FakeConnection => {
    const connection = new FakeConnection();
    opened.push(connection);
    return connection;
  };
  const link = new RedisLink(Promise.resolve(open), timer, TIMEOUT_MS);
  /** Asks for the connection and decides the attempt, if one is made. */
  const ask = async (decide: (connection: FakeConnection) => void): Promise<unknown> => {
    const before = opened.length;
    const asked = link.connection().catch((error: unknown) => error);
    await timer.advance(0);
    const made = opened[before];
    if (made !== undefined) decide(made);
    return asked;
  };
  return { timer, opened, link, ask };
}

test("calls at the same time share one attempt, and later calls its connection", async () => {
  const { timer, opened, link } = setUp();
  const asked = [link.connection(), link.connection()];
  await timer.advance(0);
  opened[0]?.succeed();
  expect(await Promise.all(asked)).toEqual([opened[0], opened[0]]);
  expect(await link.connection()).toBe(opened[0]);
  expect(opened.length).toBe(1);
  expect(timer.sleeping).toBe(0);
});

test("a server that is down is tried at growing distances, at least once a second", async () => {
  const { timer, opened, ask } = setUp();
  const refused = new Error("connect ECONNREFUSED");
  const attemptsMs: number[] = [];
  for (let ms = 0; ms < 20_000; ms += 10) {
    const before = opened.length;
    // A call that makes no attempt fails at once with the reason of the last one.
    expect(await ask((connection) => connection.fail(refused))).toBe(refused);
    if (opened.length > before) attemptsMs.push(ms);
    await timer.advance(10);
  }
  const gapsMs = attemptsMs.slice(1).map((ms, i) => ms - (attemptsMs[i] ?? 0));
  expect(gapsMs.slice(0, 3)).toEqual([50, 100, 150]);
  expect(gapsMs.at(-1)).toBe(1000);
  expect(opened.every(({ isClosed }) => isClosed)).toBe(true);
  await timer.advance(1000);
  const found = await ask((connection) => connection.succeed());
  expect(found).toBe(opened.at(-1));
});

test("an attempt that is not answered is given up after four timeouts", async () => {
  const { timer, opened, link } = setUp();
  const asked = link.connection().catch((error: unknown) => error);
  await timer.advance(TIMEOUTS_UNTIL_DEAD * TIMEOUT_MS - 1);
  expect(opened[0]?.isClosed).toBe(false);
  await timer.advance(1);
  expect(String(await asked)).toContain("no connection within 400 ms");
  expect(opened[0]?.isClosed).toBe(true);
});

test("a connection is replaced after four late replies in a row, and not if one comes between", async () => {
  const { opened, link, ask } = setUp();
  expect(link.noteLate()).toBe("connection");
  await ask((connection) => connection.succeed());
  for (let late = 1; late < TIMEOUTS_UNTIL_DEAD; late++) expect(link.noteLate()).toBe("answer");
  link.noteReply();
  for (let late = 1; late < TIMEOUTS_UNTIL_DEAD; late++) link.noteLate();
  expect(opened[0]?.isClosed).toBe(false);
  link.noteLate();
  expect(opened[0]?.isClosed).toBe(true);
  expect(await ask((connection) => connection.succeed())).toBe(opened[1]);
});

test("a link that is closed during an attempt leaves no connection and no timer", async () => {
  const { timer, opened, link } = setUp();
  const asked = link.connection().catch((error: unknown) => error);
  await timer.advance(0);
  const closing = link.close();
  opened[0]?.succeed();
  await closing;
  expect(await asked).toBeInstanceOf(StoreError);
  expect(opened[0]?.isClosed).toBe(true);
  expect(timer.sleeping).toBe(0);
  await expect(link.connection()).rejects.toThrow("the store is closed");
});
