import { createInboundLimiter } from "@sluice/egress/server";

const limiter = createInboundLimiter({ rate: "100/min" });

/** The status and the seconds for `Retry-After`. */
export async function answer(user: string): Promise<{ status: number; retryAfter: number }> {
  const decision = await limiter.admit(user, 1);
  if (decision.admitted) return { status: 200, retryAfter: 0 };
  return { status: decision.status, retryAfter: Number(decision.headers["Retry-After"]) };
}
console.log(await answer("ann"));
