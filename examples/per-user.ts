import { KeyedBuckets } from "@sluice/core";

// 5 requests a second for each user, in bursts of at most 10.
const users = new KeyedBuckets({ rate: 5, capacity: 10 });

/** 0 if the request is admitted, else the seconds for `Retry-After`. */
export function retryAfterOf(user: string): number {
  return users.tryAcquire(user) ? 0 : Math.ceil(users.pauseMs(user) / 1000);
}
