import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

const limiter = new RateLimiterMemory({ points: 100, duration: 60 });

/** The status and the seconds for `Retry-After`. */
export async function answer(user: string): Promise<{ status: number; retryAfter: number }> {
  try {
    await limiter.consume(user, 1);
    return { status: 200, retryAfter: 0 };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { status: 429, retryAfter: Math.ceil(refusal.msBeforeNext / 1000) };
  }
}
console.log(await answer("ann"));
