/** What every quota store must do. */
import { InvariantError, QUOTA_LEASE_MS } from "@sluice/core";
import type { QuotaPolicy, QuotaReply, QuotaRequest, QuotaStore } from "@sluice/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A store, and the time by which it judges. */
export interface QuotaStoreUnderTest {
  readonly store: QuotaStore;
  /** Lets whole milliseconds pass on the store's clock. */
  pass(ms: number): void;
  setBack(ms: number): void;
  close(): Promise<void>;
}

const TEN: QuotaPolicy = { name: "default", limit: 10, periodMs: 1000, burst: 10 };
const HOURLY: QuotaPolicy = { name: "hourly", limit: 36, periodMs: 3_600_000, burst: 12 };

let keys = 0;

/** Every test has keys of its own. */
function nextKey(): string {
  return `shop key ${++keys}`;
}

export function asking(request: Partial<QuotaRequest> & { readonly key: string }): QuotaRequest {
  const { needed = 1, least = Math.min(1, needed) } = request;
  return {
    policies: [TEN],
    wanted: 0,
    share: 1,
    settled: undefined,
    ...request,
    needed,
    least,
  };
}

export function testQuotaStore(
  name: string,
  start: () => Promise<QuotaStoreUnderTest>,
  { isSkipped = false }: { readonly isSkipped?: boolean } = {},
): void {
  describe.skipIf(isSkipped)(name, () => {
    let tested: QuotaStoreUnderTest;
    beforeAll(async () => {
      tested = await start();
    });
    afterAll(() => tested.close());

    const take = (
      key: string,
      said: Partial<Omit<QuotaRequest, "key">> = {},
    ): Promise<QuotaReply> => tested.store.take(asking({ ...said, key }));

    /** Ends the term, so that tests do not depend on where in a term they begin. */
    const nextTerm = async (): Promise<void> => {
      const { term } = await take(nextKey());
      while ((await take(nextKey())).term === term) tested.pass(1);
    };

    test("grants as many as there are, and says what remains and when more comes", async () => {
      const key = nextKey();
      expect(await take(key, { needed: 4 })).toMatchObject({
        granted: 4,
        leased: 0,
        balances: [{ remaining: 6, resetMs: 100 }],
      });
      expect(await take(key, { needed: 8 })).toMatchObject({
        granted: 6,
        balances: [{ remaining: 0, resetMs: 100 }],
      });
      expect(await take(key)).toMatchObject({
        granted: 0,
        balances: [{ remaining: 0, resetMs: 100 }],
      });
      tested.pass(250);
      expect(await take(key, { needed: 5 })).toMatchObject({
        granted: 2,
        balances: [{ remaining: 0, resetMs: 50 }],
      });
    });

    test("a refused request costs nothing, and is granted after the time it was told", async () => {
      const key = nextKey();
      await take(key, { needed: 8 });
      const refused = await take(key, { needed: 5, least: 5 });
      expect(refused).toMatchObject({ granted: 0, balances: [{ remaining: 2, resetMs: 300 }] });
      tested.pass(299);
      expect(await take(key, { needed: 5, least: 5 })).toMatchObject({ granted: 0 });
      tested.pass(1);
      expect(await take(key, { needed: 5, least: 5 })).toMatchObject({ granted: 5 });
    });

    test("all policies are charged, or none", async () => {
      const key = nextKey();
      const policies = [TEN, HOURLY];
      expect(await take(key, { policies, needed: 10 })).toMatchObject({ granted: 10 });
      tested.pass(1000);
      const reply = await take(key, { policies, needed: 3, least: 3 });
      expect(reply).toMatchObject({ granted: 0 });
      expect(reply.balances.map(({ remaining }) => remaining)).toEqual([10, 2]);
      expect(await take(key, { policies, needed: 3 })).toMatchObject({ granted: 2 });
    });

    test("a request that costs more than the burst passes when the quota is full, and its debt is waited out", async () => {
      const key = nextKey();
      expect(await take(key, { needed: 25, least: 25 })).toMatchObject({ granted: 25 });
      tested.pass(1500);
      expect(await take(key)).toMatchObject({ granted: 0, balances: [{ resetMs: 100 }] });
      tested.pass(100);
      expect(await take(key)).toMatchObject({ granted: 1 });
    });

    test("a lease takes its share of what is left after the requests", async () => {
      const key = nextKey();
      expect(await take(key, { needed: 2, wanted: 100, share: 0.25 })).toMatchObject({
        granted: 2,
        leased: 2,
        balances: [{ remaining: 6 }],
      });
      expect(await take(nextKey(), { wanted: 3, share: 1 })).toMatchObject({ leased: 3 });
      expect(await take(nextKey(), { wanted: 5, share: 0 })).toMatchObject({ leased: 0 });
    });

    test("what is unused of a lease comes back, once", async () => {
      await nextTerm();
      const key = nextKey();
      const { leased, term } = await take(key, { needed: 1, wanted: 5 });
      const settled = { leased, unused: 4, term };
      expect(await take(key, { needed: 0, settled })).toMatchObject({
        balances: [{ remaining: 8 }],
      });
      expect(await take(key, { needed: 0, settled })).toMatchObject({
        balances: [{ remaining: 8 }],
      });
    });

    test("while a lease is out the quota fills up to the burst less the lease", async () => {
      await nextTerm();
      const key = nextKey();
      const { leased, term } = await take(key, { needed: 1, wanted: 4 });
      expect(leased).toBe(4);
      tested.pass(900);
      expect(await take(key, { needed: 0 })).toMatchObject({
        balances: [{ remaining: 6, resetMs: expect.any(Number) as number }],
      });
      const settled = { leased, unused: 4, term };
      expect(await take(key, { needed: 0, settled })).toMatchObject({
        balances: [{ remaining: 10, resetMs: undefined }],
      });
    });

    test("a lease that nobody settles ends, and only then the quota is full again", async () => {
      await nextTerm();
      const key = nextKey();
      await take(key, { needed: 5, wanted: 5 });
      tested.pass(QUOTA_LEASE_MS);
      expect(await take(key, { needed: 0 })).toMatchObject({ balances: [{ remaining: 5 }] });
      // The lease has surely ended at the end of the next term, and its room fills up from then on.
      tested.pass(QUOTA_LEASE_MS + 500);
      expect(await take(key, { needed: 0 })).toMatchObject({ balances: [{ remaining: 10 }] });
    });

    test("a lease whose term has ended brings nothing back", async () => {
      await nextTerm();
      const key = nextKey();
      const { leased, term } = await take(key, { needed: 5, wanted: 5 });
      tested.pass(2 * QUOTA_LEASE_MS);
      await take(key, { needed: 10 });
      const settled = { leased, unused: leased, term };
      expect(await take(key, { needed: 1, settled })).toMatchObject({ granted: 0 });
    });

    test("a clock that is set back grants nothing, and the quota fills on from there", async () => {
      const key = nextKey();
      await take(key, { needed: 10 });
      tested.setBack(3_600_000);
      expect(await take(key)).toMatchObject({ granted: 0 });
      tested.pass(500);
      expect(await take(key, { needed: 10 })).toMatchObject({ granted: 5 });
      tested.pass(3_600_000);
    });

    test("leases from before the clock was set back end as others do", async () => {
      const key = nextKey();
      await nextTerm();
      expect(await take(key, { needed: 1, wanted: 9 })).toMatchObject({ leased: 9 });
      tested.setBack(3_600_000);
      await take(key);
      tested.pass(3 * QUOTA_LEASE_MS);
      expect(await take(key)).toMatchObject({ granted: 1, balances: [{ remaining: 9 }] });
    });

    test("a debt of longer than all time is counted, and is no error", async () => {
      const key = nextKey();
      const yearly = { name: "yearly", limit: 1, periodMs: 366 * 86_400_000, burst: 1 };
      const needed = 1_000_000_000_000;
      expect(await take(key, { policies: [yearly], needed, least: needed })).toMatchObject({
        granted: needed,
        balances: [{ remaining: 0, resetMs: 1e15 }],
      });
      expect(await take(key, { policies: [yearly] })).toMatchObject({ granted: 0 });
    });

    test("whatever processes lease, use and forget, any time has at most its burst and rate", async () => {
      const act = fc.record({
        process: fc.nat(2),
        passMs: fc.oneof(fc.nat(50), fc.nat(1500)),
        needed: fc.nat(6),
        wanted: fc.nat(12),
        use: fc.nat(12),
        share: fc.constantFrom(0.125, 0.5, 1),
        isSettled: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
          const key = nextKey();
          const leases = new Map<number, Lease>();
          /** Tokens used, and when. */
          const uses: { readonly atMs: number; readonly tokens: number }[] = [];
          let atMs = 0;
          for (const { process, passMs, needed, wanted, use, share, isSettled } of acts) {
            tested.pass(passMs);
            atMs += passMs;
            const lease = leases.get(process);
            // A process uses its lease at the last instant, and then asks for another.
            const usable = lease !== undefined && atMs < lease.untilMs ? lease.leased : 0;
            const used = Math.min(use, usable);
            if (used > 0) uses.push({ atMs, tokens: used });
            const settled =
              lease === undefined || !isSettled
                ? undefined
                : { leased: lease.leased, unused: lease.leased - used, term: lease.term };
            const reply = await take(key, { needed, wanted, share, settled });
            if (reply.granted > 0) uses.push({ atMs, tokens: reply.granted });
            const { leased, term } = reply;
            leases.set(process, { leased, term, untilMs: atMs + QUOTA_LEASE_MS });
          }
          for (const from of uses)
            for (const to of uses) {
              if (to.atMs < from.atMs) continue;
              const inWindow = uses.filter((u) => u.atMs >= from.atMs && u.atMs <= to.atMs);
              const sum = inWindow.reduce((total, { tokens }) => total + tokens, 0);
              const most = TEN.burst + ((to.atMs - from.atMs) * TEN.limit) / TEN.periodMs;
              expect(sum).toBeLessThanOrEqual(most + 0.001);
            }
        }),
        { numRuns: 60 },
      );
    });

    test.each<[string, Partial<QuotaRequest>]>([
      ["an empty key", { key: "" }],
      ["a key that is too long", { key: "x".repeat(513) }],
      ["no policies", { policies: [] }],
      ["half a token", { needed: 1.5 }],
      ["a least above what is needed", { needed: 1, least: 2 }],
      ["a share above 1", { share: 1.1 }],
      ["more unused than was leased", { settled: { leased: 1, unused: 2, term: 1 } }],
    ])("refuses %s before it is sent", async (_, wrong) => {
      await expect(tested.store.take(asking({ key: nextKey(), ...wrong }))).rejects.toThrow(
        InvariantError,
      );
    });
  });
}

interface Lease {
  readonly leased: number;
  readonly term: number;
  readonly untilMs: number;
}
