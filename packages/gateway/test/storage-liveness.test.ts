import { test } from "vitest";
import { expectAcknowledgedIsRemoved } from "./liveness.ts";

test("after a crash at any point, what every subscription has acknowledged is removed", async () => {
  for (let seed = 0; seed < 400; seed++) await expectAcknowledgedIsRemoved(seed);
});
