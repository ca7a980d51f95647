// The faults of the soak. Each begins, and answers a function that ends it; soak.mjs makes the world that it is given.
import { SeededRandom } from "@sluice/core";

/** By name. After its end the process must be as it was before. */
export const FAULTS = {
  "service down": async ({ service }) => {
    await service.stop();
    return () => service.start();
  },
  "service hangs": ({ service }) => {
    service.mode = "hang";
    return () => service.heal();
  },
  "service answers 503": ({ service }) => {
    service.mode = { status: 503 };
    return () => service.heal();
  },
  "service answers 429 with Retry-After": ({ service }) => {
    service.mode = { status: 429, retryAfter: "2" };
    return () => service.heal();
  },
  "Redis killed": async ({ redis }) => {
    await redis.kill();
    return () => redis.start();
  },
  "Redis flushed": async ({ redis }) => {
    await redis.flush();
    return () => undefined;
  },
  "wrong file and SIGHUP": ({ flow }) => {
    flow.write(flow.text.replace("max: 300", "max: many"));
    flow.hangUp();
    return () => {
      flow.write(flow.text);
      flow.hangUp();
    };
  },
  "limit of a vertex set": async ({ limits }) => {
    await limits("set", "vertex", "orders/in", "max=60", "min=60");
    return () => limits("unset", "vertex", "orders/in");
  },
  "limit of a topic set": async ({ limits }) => {
    await limits("set", "topic", "public/default/orders", "messages=40/s");
    return () => limits("unset", "topic", "public/default/orders");
  },
  "process stopped for 3 s": async ({ flow, sleep }) => {
    flow.signal("SIGSTOP");
    await sleep(3_000);
    flow.signal("SIGCONT");
    return () => undefined;
  },
  "clients cut": async ({ producer, posts }) => {
    posts.cut();
    await producer.cut();
    return () => undefined;
  },
};

/** Names of faults, each as often as the others; the same for the same seed. */
export function* drawn(seed) {
  const random = new SeededRandom(seed);
  for (;;) {
    const names = Object.keys(FAULTS);
    while (names.length > 0) yield names.splice(Math.floor(random.next() * names.length), 1)[0];
  }
}
