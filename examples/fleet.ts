import { joinFleet } from "@sluice/fleet";

const limiter = await joinFleet({
  pool: "payments",
  rateLimit: { max: 100 },
  store: "redis://127.0.0.1:6379",
  maxMembers: 8,
});

for (const order of ["a-17", "a-18"]) {
  await limiter.acquire(); // at most 100 a second over all processes
  console.log(`charging ${order}`);
}
await limiter.leave();
