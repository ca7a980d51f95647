import { expect } from "vitest";
import { digestOf } from "./body.ts";
import type { ConsumeCommand, ConsumeOutcome, Driver, ProduceCommand } from "../drivers/driver.ts";
import { RecordingProxy } from "../servers/recording-proxy.ts";

/** Who talks to whom about what. Producer and consumer may be different clients. */
export interface Stage {
  readonly serviceUrl: string;
  readonly producer: Driver;
  readonly consumer: Driver;
  /** Nobody else uses it. */
  readonly topic: string;
}

const PATIENCE_MS = 30_000;
/** Long enough that what has not come by then does not come. */
const SILENCE_MS = 2_500;

export const READING = {
  subscription: "interop",
  type: "exclusive",
  ack: "individual",
  timeoutMs: PATIENCE_MS,
} as const;

export const SHARED_READING = { type: "shared" } as const;

type Reading = Partial<ConsumeCommand> & { readonly count: number };

/** For a client that can only read what is sent after it has subscribed: a subscription stays. */
export async function subscribed(
  stage: Stage,
  reading: Partial<ConsumeCommand> = {},
): Promise<void> {
  if (stage.consumer.lacks.earliest !== undefined) await consume(stage, { ...reading, count: 0 });
}

export function produce(
  { serviceUrl, producer, topic }: Stage,
  command: Omit<ProduceCommand, "topic">,
): ReturnType<Driver["produce"]>["outcome"] {
  return producer.produce(serviceUrl, { topic, ...command }).outcome;
}

export function begin(
  { serviceUrl, consumer, topic }: Stage,
  reading: Reading,
): ReturnType<Driver["consume"]> {
  return consumer.consume(serviceUrl, { ...READING, topic, ...reading });
}

export function consume(stage: Stage, reading: Reading): Promise<ConsumeOutcome> {
  return begin(stage, reading).outcome;
}

/** Far enough to be amid the messages, whoever shakes hands how. */
const FRAMES_BEFORE_CUT = 35;

export async function throughCut(stage: Stage, work: (cut: Stage) => Promise<void>): Promise<void> {
  const proxy = await RecordingProxy.start(stage.serviceUrl);
  proxy.cutAfter(FRAMES_BEFORE_CUT);
  try {
    await work({ ...stage, serviceUrl: proxy.serviceUrl });
    expect(proxy.hasCut).toBe(true);
  } finally {
    await proxy.close();
  }
}

export async function expectSilence(stage: Stage, reading: Partial<ConsumeCommand>): Promise<void> {
  const { received } = await consume(stage, { ...reading, count: 1, timeoutMs: SILENCE_MS });
  expect(received).toBe(0);
}

export function all(count: number, sent: Pick<ProduceCommand, "keys" | "sizeBytes">): object {
  return {
    received: count,
    distinct: count,
    duplicates: 0,
    perKeyOrderBroken: 0,
    digest: digestOf(range(0, count), sent),
  };
}

export function range(from: number, until: number): number[] {
  return Array.from({ length: until - from }, (_, index) => from + index);
}
