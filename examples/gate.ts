import assert from "node:assert/strict";
import { classifyGrpc, createGate, ThrottledError } from "@sluice/egress";
import type { GateEvent } from "@sluice/egress";
import { VirtualTimer } from "@sluice/core/testing";

// Two calls at once and no more than 100 a second; a program leaves `runtime` out.
const timer = new VirtualTimer();
const events: GateEvent[] = [];
const gate = createGate({
  name: "ledger",
  concurrency: 2,
  rate: "100/s",
  maxWaiting: 10,
  // Results and errors of your own kind: here a gRPC status. What it leaves, the gate judges.
  classify: (settled) => {
    const error = "error" in settled ? settled.error : undefined;
    const isStatus = error instanceof Error && "code" in error && typeof error.code === "number";
    return isStatus ? classifyGrpc(Number(error.code)) : undefined;
  },
  observers: [(event) => events.push(event)],
  runtime: { timer },
});

// Three calls of 10 ms: the third waits, unless it would rather be told.
const call = (): Promise<string> => timer.sleep(10).then(() => "done");
const running = [gate.run(call), gate.run(call)];
const waiting = gate.run(call, { priority: 1, deadlineMs: 1000 });
assert.deepEqual(gate.why(), { reason: "concurrency", leftMs: undefined, waitedMs: 0 });
assert.equal((await gate.tryRun(call, { wait: false })).refused, "concurrency");
await timer.advance(20);
assert.deepEqual(await Promise.all([...running, waiting]), ["done", "done", "done"]);

// Work that does not fit a function: the caller that acquired the permit ends it, once, with an outcome.
const { permit } = await gate.acquire();
permit?.end("ok");

// A busy peer and its errors are the caller's as before; the gate has taken note of them.
const exhausted = Object.assign(new Error("out of quota"), { code: 8 });
await assert.rejects(
  gate.run(() => Promise.reject(exhausted)),
  exhausted,
);
assert.equal(events.filter((event) => event.type === "ended").at(-1)?.outcome, "busy");

// What cannot start before its deadline is refused at once, not at its deadline.
gate.pause(5000);
await assert.rejects(
  gate.run(call, { deadlineMs: 1000 }),
  (error) => error instanceof ThrottledError && error.reason === "retry-after",
);
gate.close();
