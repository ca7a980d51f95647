import type { EventListener } from "./client-event.ts";

const MS_PER_SECOND = 1_000;

/** The part of OpenTelemetry's `Meter` that is used here, so that the package does not depend on it. */
export interface CounterMeter {
  createCounter(
    name: string,
    options: { readonly description: string; readonly unit: string },
  ): { add(value: number, attributes: Record<string, string>): void };
}

/**
 * A listener for `onEvent` that records metrics of OpenTelemetry.
 *
 * | instrument | kind | attributes |
 * | --- | --- | --- |
 * | `pulsar.client.producer.throttled_times` | counter, s: how long brokers limited producers | `reason`, `topic` |
 *
 * Time is added when a pause ends or is replaced. A topic with partitions has one series per partition.
 */
export function observeWithOpenTelemetry(meter: CounterMeter): EventListener {
  const throttledTimes = meter.createCounter("pulsar.client.producer.throttled_times", {
    description: "Time for which brokers limited producers",
    unit: "s",
  });
  return (event) => {
    if (event.type !== "unthrottled") return;
    const { reason, topic, throttledMs } = event;
    throttledTimes.add(throttledMs / MS_PER_SECOND, { reason, topic });
  };
}
