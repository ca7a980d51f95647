import { joinFleet } from "@sluice/fleet";

export async function sendAll(mails: string[], send: (mail: string) => void): Promise<void> {
  const limiter = await joinFleet({
    pool: "shop/mails",
    store: "redis://127.0.0.1:6379",
    rateLimit: { max: 100 },
    maxMembers: 8,
  });
  for (const mail of mails) {
    await limiter.acquire();
    send(mail);
  }
  await limiter.leave();
}
