import { expect, onTestFinished, test } from "vitest";
import { listenEarly, stopSignals } from "./stop-signals.ts";

test.each([[["run", "-"]], [["broker", "--memory"]]])(
  "a signal before the modules of sluice %j are loaded is the stop of the command",
  async (args) => {
    listenEarly(args);
    process.emit("SIGTERM");
    const signals = stopSignals();
    onTestFinished(() => signals.close());
    expect(signals.hasCome).toBe(true);
    await signals.first;
  },
);

test.each([[["check", "flow.yaml"]], [["broker", "inspect", "data"]]])(
  "sluice %j is ended by a signal, as there is nothing to drain",
  (args) => {
    const before = process.listenerCount("SIGTERM");
    listenEarly(args);
    expect(process.listenerCount("SIGTERM")).toBe(before);
  },
);
