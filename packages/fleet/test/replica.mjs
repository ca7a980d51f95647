/**
 * One member in a process of its own, which takes all it can get. Grants are stamped here, on the
 * clock that all processes of a machine share: on their way to whoever watches they would bunch up.
 */
// Node runs it as it stands, so there are no types to check.
/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-return */
import { systemTimer, threadClock } from "@sluice/core/system";
import { joinFleet, redisStore } from "@sluice/fleet";

const { store: storeOptions, ...options } = JSON.parse(process.argv[2]);
const TELL_MS = 100;
/** Grants since the last telling: [milliseconds, tokens]. */
let stamps = [];
const over = new AbortController();

function tell(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function tellGrants(limiter) {
  const { size = 0, standing = "left" } = limiter.state().membership ?? {};
  tell({ type: "grants", stamps, size, standing, syncs: limiter.counts.syncs });
  stamps = [];
}

async function tellOften(limiter) {
  while (!over.signal.aborted) {
    await systemTimer.sleep(TELL_MS);
    tellGrants(limiter);
  }
}

const store = redisStore(storeOptions);
try {
  const limiter = await joinFleet({ ...options, store });
  tell({ type: "joined" });
  process.on("SIGTERM", () => {
    over.abort();
  });
  const telling = tellOften(limiter);
  while (!over.signal.aborted) {
    const grant = await limiter.acquireUpTo(100, { timeoutMs: 200 }).catch((error) => {
      if (error.code !== "THROTTLED") throw error;
    });
    if (grant !== undefined) stamps.push([threadClock.now(), grant.count]);
  }
  await limiter.leave();
  await telling;
  tellGrants(limiter);
} catch (error) {
  tell({ type: "failed", code: error.code, message: error.message });
}
await store.close();
