/** The commands that a client receives, and the errors that its answers become. */
import { ConfigError } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test, vi } from "vitest";
import type { RedisScriptClient } from "../src/store/redis/connect/library.ts";
import { redisStore } from "../src/store/redis/store.ts";
import { StoreError } from "../src/store/store-error.ts";
import { leaveRequest, syncRequest } from "./requests.ts";

const SYNC = syncRequest();
const REFUSED = "refused id-taken";

/** Answers by `answer`, and remembers what it was asked. */
function clientOf(answer: (name: "evalsha" | "eval") => Promise<unknown>): {
  client: RedisScriptClient;
  asked: (readonly unknown[])[];
} {
  const asked: (readonly unknown[])[] = [];
  const call =
    (name: "evalsha" | "eval") =>
    (...words: readonly unknown[]): Promise<unknown> => {
      asked.push([name, ...words]);
      return answer(name);
    };
  return { client: { evalsha: call("evalsha"), eval: call("eval") }, asked };
}

test("every key is passed to the script, and all keys of a pool are in one slot", async () => {
  const { client, asked } = clientOf(() => Promise.resolve(REFUSED));
  await redisStore({ client }).sync(SYNC);
  const [, , count, ...words] = asked[0] ?? [];
  expect(count).toBe(5);
  for (const key of words.slice(0, 5)) expect(key).toMatch(/^sluice:\{shop\/orders\}:\w+$/);
});

test("a script that the server does not know is sent whole, once", async () => {
  const { client, asked } = clientOf((name) =>
    name === "eval" ? Promise.resolve(REFUSED) : Promise.reject(new Error("NOSCRIPT No matching")),
  );
  expect(await redisStore({ client }).sync(SYNC)).toEqual({ kind: "refused", why: "id-taken" });
  expect(asked.map(([name]) => name)).toEqual(["evalsha", "eval"]);
  expect(asked[1]?.slice(2)).toEqual(asked[0]?.slice(2));
  expect(asked[1]?.[1]).toContain("One sync of one member");
});

test("what may have been executed is not sent again", async () => {
  const { client, asked } = clientOf(() => Promise.reject(new Error("Connection is closed.")));
  await expect(redisStore({ client }).sync(SYNC)).rejects.toThrow(StoreError);
  expect(asked.length).toBe(1);
});

test("a client that does not answer is given up after the timeout, and nothing is left behind", async () => {
  const timer = new VirtualTimer();
  const { client, asked } = clientOf(() => new Promise(() => undefined));
  const store = redisStore({ client, timeoutMs: 100, runtime: { timer } });
  const outcome = store.sync(SYNC).catch((error: unknown) => error);
  let isSettled = false;
  void outcome.then(() => (isSettled = true));
  await timer.advance(99);
  expect(isSettled).toBe(false);
  await timer.advance(1);
  expect(await outcome).toMatchObject({ code: "STORE", message: "Redis: no answer within 100 ms" });
  expect(asked.length).toBe(1);
  expect(timer.sleeping).toBe(0);
});

test("a script that is found to be unknown after the timeout is not sent any more", async () => {
  const timer = new VirtualTimer();
  const pending: ((error: Error) => void)[] = [];
  const { client, asked } = clientOf(() => new Promise((_resolve, reject) => pending.push(reject)));
  const outcome = redisStore({ client, timeoutMs: 250, runtime: { timer } })
    .sync(SYNC)
    .catch((error: unknown) => error);
  await timer.advance(250);
  for (const reject of pending) reject(new Error("NOSCRIPT"));
  expect(await outcome).toBeInstanceOf(StoreError);
  await timer.advance(1000);
  expect(asked.length).toBe(1);
});

test("a timer is not left behind by an answer", async () => {
  const timer = new VirtualTimer();
  const { client } = clientOf(() => Promise.resolve(REFUSED));
  await redisStore({ client, runtime: { timer } }).sync(SYNC);
  expect(timer.sleeping).toBe(0);
});

test.each<[string, unknown]>([
  ["a foreign error", new Error("ERR\nsomething\u0007")],
  ["no error at all", "gone"],
])("%s becomes one of ours, on one line", async (_what, thrown) => {
  const { client } = clientOf(() => Promise.reject(thrown));
  const error: unknown = await redisStore({ client })
    .sync(SYNC)
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StoreError);
  expect((error as StoreError).message).toMatch(/^Redis: [\x20-\x7e]+$/);
});

test("an answer that makes no sense is an error, not a grant", async () => {
  const { client } = clientOf(() => Promise.resolve("told 1"));
  const store = redisStore({ client });
  await expect(store.sync(SYNC)).rejects.toThrow(StoreError);
  await expect(store.setLimits("p", "")).rejects.toThrow(StoreError);
  await expect(store.leave(leaveRequest())).rejects.toThrow(StoreError);
});

test("a wrong request never reaches the client", async () => {
  const { client, asked } = clientOf(() => Promise.resolve(REFUSED));
  await expect(redisStore({ client }).sync({ ...SYNC, pool: "a}b{" })).rejects.toThrow(ConfigError);
  expect(asked).toEqual([]);
});

test("a missing client library is named at the first call, with the command that installs it", async () => {
  const libraries = ["ioredis", "iovalkey", "redis"] as const;
  for (const name of libraries)
    vi.doMock(name, () => {
      throw new Error(`Cannot find package '${name}'`);
    });
  try {
    const any = redisStore({ url: "redis://127.0.0.1:1" });
    const error: unknown = await any.sync(SYNC).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "STORE", canHeal: false });
    expect(String(error)).toContain("ioredis or iovalkey or redis; run: npm install ioredis");
    const chosen = redisStore({ url: "redis://127.0.0.1:1", library: "redis" });
    await expect(chosen.sync(SYNC)).rejects.toThrow("library redis; run: npm install redis");
    await Promise.all([any.close(), chosen.close()]);
  } finally {
    for (const name of libraries) vi.doUnmock(name);
  }
});

test("without a choice the first installed of ioredis, iovalkey and redis is used", async () => {
  const loaded: string[] = [];
  const refusing = (name: string) => () => {
    loaded.push(name);
    throw new Error(`Cannot find package '${name}'`);
  };
  vi.doMock("ioredis", refusing("ioredis"));
  vi.doMock("iovalkey", refusing("iovalkey"));
  try {
    const store = redisStore({ url: "redis://127.0.0.1:1", timeoutMs: 10_000 });
    await expect(store.sync(SYNC)).rejects.toMatchObject({ canHeal: true });
    expect(loaded).toEqual(["ioredis", "iovalkey"]);
    await store.close();
  } finally {
    vi.doUnmock("ioredis");
    vi.doUnmock("iovalkey");
  }
});

test.each<[string, boolean]>([
  ["WRONGPASS invalid username-password pair or user is disabled.", false],
  ["NOAUTH Authentication required.", false],
  ["NOPERM this user has no permissions to run the 'evalsha' command", false],
  ["ERR Error running script: The user executing the script can't run this command", false],
  ["ERR invalid password", false],
  ["ERR AUTH <password> called without any password configured for the default user.", false],
  ["ERR unknown command 'EVALSHA', with args beginning with: ", false],
  ["DENIED Redis is running in protected mode", false],
  ["self-signed certificate", false],
  ["connect ECONNREFUSED 127.0.0.1:6379", true],
  ["getaddrinfo ENOTFOUND redis", true],
  ["LOADING Redis is loading the dataset in memory", true],
  ["READONLY You can't write against a read only replica.", true],
  ["CLUSTERDOWN The cluster is down", true],
  ["MASTERDOWN Link with MASTER is down", true],
  ["TRYAGAIN Multiple keys request during rehashing of slot", true],
  ["BUSY Redis is busy running a script.", true],
  ["OOM command not allowed when used memory > 'maxmemory'.", true],
  ["Connection is closed.", true],
])("whether waiting can help is part of the error: %s", async (message, canHeal) => {
  const { client } = clientOf(() => Promise.reject(new Error(message)));
  await expect(redisStore({ client }).sync(SYNC)).rejects.toMatchObject({ code: "STORE", canHeal });
});

test.each([
  "NOAUTH Authentication required.",
  "ERR Protocol error: unauthenticated multibulk length",
])("a server that wants a password says so in the error: %s", async (message) => {
  const { client } = clientOf(() => Promise.reject(new Error(message)));
  await expect(redisStore({ client }).sync(SYNC)).rejects.toThrow(
    `Redis: ${message}; the server wants a password: redis://:password@host, or the option password`,
  );
});

test("the reason inside an error of several nodes is reported, and decides whether it can heal", async () => {
  const refused = new Error("WRONGPASS invalid");
  for (const error of [
    new AggregateError([new Error("connect ETIMEDOUT"), refused], "no sentinel"),
    Object.assign(new Error("Failed to refresh slots cache."), { lastNodeError: refused }),
    new Error("outer", { cause: refused }),
  ]) {
    const { client } = clientOf(() => Promise.reject(error));
    const told: unknown = await redisStore({ client })
      .sync(SYNC)
      .catch((caught: unknown) => caught);
    expect(told).toMatchObject({ canHeal: false });
    expect(told).not.toHaveProperty("cause");
    expect(String(told)).toContain("WRONGPASS");
  }
});
