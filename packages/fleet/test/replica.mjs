/**
 * One member in a process of its own, which takes all it can get. Grants and shares are stamped here,
 * on the clock that all processes of a machine share: on their way to the test they would bunch up.
 */
// Node runs it as it stands, so there are no types to check.
/* oxlint-disable typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-return */
import { systemTimer, threadClock } from "@sluice/core/system";
import { joinFleet } from "@sluice/fleet";

/** Between two samples of the share. */
const SAMPLE_MS = 50;

/** Grants since the last telling: [milliseconds, tokens]. */
let stamps = [];
const over = new AbortController();

function tell(type, more) {
  process.stdout.write(`${JSON.stringify({ type, atMs: threadClock.now(), ...more })}\n`);
}

function tellState(lateMs) {
  const { share = 0, membership } = limiter?.state() ?? {};
  const { size = 0, standing = "" } = membership ?? {};
  tell("state", { share, size, standing, lateMs, stamps });
  stamps = [];
}

async function tellOften() {
  while (!over.signal.aborted) {
    const dueMs = threadClock.now() + SAMPLE_MS;
    await systemTimer.sleep(SAMPLE_MS);
    tellState(threadClock.now() - dueMs);
  }
}

let limiter;
// Loaded before time is taken: on a busy machine that takes seconds.
await import("ioredis");
tell("started");
const telling = tellOften();
try {
  limiter = await joinFleet(JSON.parse(process.argv[2]));
  tell("joined");
  process.on("SIGTERM", () => {
    over.abort();
  });
  while (!over.signal.aborted) {
    const grant = await limiter.acquireUpTo(100, { timeoutMs: 200 }).catch((error) => {
      if (error.code !== "THROTTLED") throw error;
    });
    if (grant !== undefined) stamps.push([threadClock.now(), grant.count]);
  }
  await limiter.leave();
  await telling;
  tellState(0);
} catch (error) {
  over.abort();
  tell("failed", { code: error.code, message: error.message });
}
// Nothing ends the process: it must have nothing left to do.
