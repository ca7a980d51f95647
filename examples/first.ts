import { throttledFetch } from "@sluice/egress";

// At most 10 requests a second. An answer of 429 pauses all calls as its Retry-After says, then is retried.
const fetch = throttledFetch({ rate: "10/s", retry: 3, call: { deadlineMs: 30_000 } });

async function order(id: string): Promise<string> {
  const response = await fetch(`https://api.example.com/orders/${id}`);
  return response.text();
}

console.log(await Promise.all(["a-17", "a-18", "a-19"].map(order)));
