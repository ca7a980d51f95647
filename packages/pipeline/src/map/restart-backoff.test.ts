import { expect, test } from "vitest";
import { RestartBackoff } from "./restart-backoff.ts";

test("the first restart is at once, further ones wait twice as long each, up to the bound", () => {
  const backoff = new RestartBackoff(350);
  expect([1, 2, 3, 4, 5].map(() => backoff.nextMs())).toEqual([0, 100, 200, 350, 350]);
  backoff.onSuccess();
  expect(backoff.nextMs()).toBe(0);
});
