import { throttledFetch } from "@sluice/egress";

// Used like `fetch`. Every origin has its own gate: rate, concurrency limit, retries.
const fetch = throttledFetch({
  rate: "100/s",
  concurrency: "adaptive",
  retry: { attempts: 3 },
  call: { deadlineMs: 10_000 },
});

export async function orderOf(id: string): Promise<string> {
  const response = await fetch(`https://api.example.com/orders/${id}`);
  return response.text();
}
