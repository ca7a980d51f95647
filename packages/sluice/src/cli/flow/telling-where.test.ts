import { joinFleet, MemoryStore } from "@sluice/fleet";
import { expect, test } from "vitest";
import { placeOfProcess, tellingWhere } from "./telling-where.ts";

test("the roster of a pool says where each member runs", async () => {
  const store = new MemoryStore();
  const told = tellingWhere(store, placeOfProcess("shop-1.example", 4_121));
  const limiter = await joinFleet({
    pool: "p",
    store: told,
    maxMembers: 1,
    rateLimit: { max: 10 },
  });
  const roster = await told.roster?.("p");
  expect(roster?.members.map(({ where }) => where)).toEqual(["shop-1.example:4121"]);
  await limiter.leave();
});

test("a host name that no store takes is made one", () => {
  expect(placeOfProcess("Büro PC", 1)).toBe("B-ro-PC:1");
  expect(placeOfProcess("", 1)).toBe("host:1");
  expect(placeOfProcess("h".repeat(300), 4_194_304)).toHaveLength(71);
});
