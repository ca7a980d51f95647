import { createGate } from "@sluice/egress";

interface Completion {
  readonly usage: { readonly total_tokens: number };
}

// Stands for the client of an API.
const complete = (prompt: string): Promise<Completion> =>
  Promise.resolve({ usage: { total_tokens: prompt.length } });

const gate = createGate({
  rates: { requests: "500/min", tokens: "200000/min" },
  concurrency: "adaptive",
  costOf: (completion: Completion) => ({ tokens: completion.usage.total_tokens }),
});

const prompt = "What is a sluice?";
await gate.run(() => complete(prompt), { cost: { tokens: prompt.length + 100 } });
