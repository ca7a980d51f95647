import { ConcurrencyLimiter, FixedLimit } from "@sluice/core";
import type { Permit } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FairPermits } from "./fair-permits.ts";

const MAX_WAIT_MS = 1000;

function setUp(limit: number, maxWaiting: number = 100) {
  const timer = new VirtualTimer();
  const limiter = new ConcurrencyLimiter(new FixedLimit(limit), { clock: timer, maxWaiting: 1 });
  const permits = new FairPermits(limiter, { timer, maxWaiting, maxWaitMs: MAX_WAIT_MS });
  return { timer, limiter, permits };
}

/** Requests of keys, and what became of them, in order. */
class Clients {
  readonly #permits: FairPermits;
  readonly #timer: VirtualTimer;
  readonly log: string[] = [];
  readonly held = new Map<string, Permit[]>();

  constructor(permits: FairPermits, timer: VirtualTimer) {
    this.#permits = permits;
    this.#timer = timer;
  }

  ask(key: string): void {
    const nowMs = this.#timer.now();
    const permit = this.#permits.tryAcquire(key, nowMs);
    if (permit !== undefined) this.#hold(key, permit);
    else
      this.#permits.wait(key, nowMs, (later) => {
        if (later === undefined) this.log.push(`${key} refused`);
        else this.#hold(key, later);
      });
  }

  end(key: string): boolean {
    return this.held.get(key)?.shift()?.end("ok", this.#timer.now()) ?? false;
  }

  inFlight(key: string): number {
    return this.held.get(key)?.length ?? 0;
  }

  #hold(key: string, permit: Permit): void {
    this.log.push(key);
    this.held.set(key, [...(this.held.get(key) ?? []), permit]);
  }
}

test("a permit that comes back goes to the waiting key with the fewest in flight", () => {
  const { permits, timer } = setUp(3);
  const clients = new Clients(permits, timer);
  for (const key of ["noisy", "noisy", "b", "noisy", "noisy", "b", "quiet"]) clients.ask(key);
  expect(clients.log).toEqual(["noisy", "noisy", "b"]);
  clients.end("noisy");
  expect(clients.log.at(-1)).toBe("quiet");
  clients.end("noisy");
  expect(clients.log.at(-1)).toBe("noisy");
});

test("one key alone may use all permits", () => {
  const { permits, timer, limiter } = setUp(3);
  const clients = new Clients(permits, timer);
  for (let i = 0; i < 5; i++) clients.ask("only");
  expect(limiter.inFlight).toBe(3);
  clients.end("only");
  expect(limiter.inFlight).toBe(3);
  expect(permits.waiting).toBe(1);
});

test("of a full queue the key with most waiters loses its newest, and a new key gets in", () => {
  const { permits, timer } = setUp(1, 3);
  const clients = new Clients(permits, timer);
  for (let i = 0; i < 5; i++) clients.ask("noisy");
  expect(clients.log).toEqual(["noisy", "noisy refused"]);
  clients.ask("quiet");
  expect(clients.log.at(-1)).toBe("noisy refused");
  expect(permits.waiting).toBe(3);
  clients.end("noisy");
  expect(clients.log.at(-1)).toBe("quiet");
});

test("a waiter is refused at its deadline, and no timer is left", async () => {
  const { permits, timer } = setUp(1);
  const clients = new Clients(permits, timer);
  clients.ask("a");
  clients.ask("b");
  await timer.advance(MAX_WAIT_MS - 1);
  expect(clients.log).toEqual(["a"]);
  await timer.advance(1);
  expect(clients.log).toEqual(["a", "b refused"]);
  await timer.advance(1);
  expect(timer.sleeping).toBe(0);
  clients.end("a");
  clients.ask("c");
  expect(clients.log.at(-1)).toBe("c");
});

test("a waiter that leaves is refused once, others move up, and no timer is left", async () => {
  const { permits, timer, limiter } = setUp(1, 2);
  const held = permits.tryAcquire("a", 0);
  const log: string[] = [];
  const waitFor = (key: string) =>
    permits.wait(key, timer.now(), (permit, waitedMs) => {
      log.push(`${key} ${permit === undefined ? "refused" : "served"} after ${waitedMs} ms`);
      permit?.end("ok");
    });
  const leaveB = waitFor("b");
  const leaveC = waitFor("c");
  await timer.advance(10);
  leaveB(timer.now());
  leaveB(timer.now());
  expect(log).toEqual(["b refused after 10 ms"]);
  waitFor("d");
  held?.end("ok", timer.now());
  leaveC(timer.now());
  expect(log.slice(1)).toEqual(["c served after 10 ms", "d served after 0 ms"]);
  await timer.advance(1);
  expect([permits.waiting, permits.keys, limiter.inFlight, timer.sleeping]).toEqual([0, 0, 0, 0]);
});

test("a raised limit is used by the next permit that ends", () => {
  const timer = new VirtualTimer();
  const limit = new FixedLimit(1);
  const limiter = new ConcurrencyLimiter(limit, { clock: timer, maxWaiting: 1 });
  const permits = new FairPermits(limiter, { timer, maxWaiting: 10, maxWaitMs: MAX_WAIT_MS });
  const clients = new Clients(permits, timer);
  for (const key of ["a", "b", "c", "d"]) clients.ask(key);
  limit.setLimit(3);
  clients.end("a");
  expect(limiter.inFlight).toBe(3);
});

test("whatever keys ask and end: within its bounds, each answered once and in time, the least served key first", async () => {
  const action = fc.oneof(
    { weight: 5, arbitrary: fc.record({ ask: fc.constantFrom("a", "a", "a", "b", "c", "d") }) },
    { weight: 4, arbitrary: fc.record({ end: fc.constantFrom("a", "b", "c", "d") }) },
    { weight: 1, arbitrary: fc.record({ passMs: fc.nat(600) }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(action, { maxLength: 80 }),
      async (limit, maxWaiting, actions) => {
        const { permits, timer, limiter } = setUp(limit, maxWaiting);
        const clients = new Clients(permits, timer);
        let asked = 0;
        for (const each of actions) {
          if ("passMs" in each) await timer.advance(each.passMs);
          else if ("ask" in each) {
            clients.ask(each.ask);
            asked++;
          } else {
            const before = clients.log.length;
            const waiting = permits.waiting;
            if (!clients.end(each.end) || waiting === 0) continue;
            // The permit went on, to one of the keys with the fewest.
            expect(clients.log.length).toBe(before + 1);
          }
          expect(limiter.inFlight).toBeLessThanOrEqual(limit);
          expect(permits.waiting).toBeLessThanOrEqual(maxWaiting);
          if (permits.waiting > 0) expect(limiter.inFlight).toBe(limit);
        }
        await timer.advance(MAX_WAIT_MS);
        expect(permits.waiting).toBe(0);
        expect(clients.log.length).toBe(asked);
        for (const key of clients.held.keys()) while (clients.end(key));
        expect(permits.keys).toBe(0);
        await timer.advance(1);
        expect(timer.sleeping).toBe(0);
      },
    ),
  );
});

test("while two keys wait, neither gets a permit that leaves it two ahead of the other", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 6 }),
      fc.array(fc.constantFrom("a", "b"), { maxLength: 60 }),
      (limit, ends) => {
        const { permits, timer } = setUp(limit);
        const clients = new Clients(permits, timer);
        for (let i = 0; i < 40; i++) clients.ask("a");
        for (let i = 0; i < 40; i++) clients.ask("b");
        for (const key of ends) {
          const before = clients.log.length;
          if (!clients.end(key) || clients.log.length === before) continue;
          const got = clients.log.at(-1) ?? "";
          const other = got === "a" ? "b" : "a";
          expect(clients.inFlight(got) - clients.inFlight(other)).toBeLessThanOrEqual(1);
        }
      },
    ),
  );
});
