import { createGate } from "@sluice/egress";

/** Such as a `Pool` of pg. */
interface Pool {
  query(text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
}

/** As many queries at once as the pool has connections; the 201st waiter and waits over 2 s are refused. */
export function limited(pool: Pool, connections: number = 10): Pool {
  const gate = createGate({ name: "database", concurrency: connections, maxWaiting: 200 });
  return {
    query: gate.wrap((text, values) => pool.query(text, values), { deadlineMs: 2_000 }),
  };
}
