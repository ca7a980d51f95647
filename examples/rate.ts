import { TokenBucket } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";

// 100 calls per second, in bursts of at most 10.
const bucket = new TokenBucket({ rate: 100, capacity: 10 });

async function limited<T>(call: () => Promise<T>): Promise<T> {
  while (!bucket.tryAcquire()) await systemTimer.sleep(bucket.pauseMs());
  return call();
}

const pages = Array.from({ length: 12 }, (_, page) => limited(() => Promise.resolve(page)));
await Promise.all(pages);
