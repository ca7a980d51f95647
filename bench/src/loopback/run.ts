import { setMaxListeners } from "node:events";
import { systemTimer } from "@sluice/core/system";
import type { Client, CreateClient } from "./clients.ts";
import type { Phase } from "./phases.ts";
import { Recorder } from "./recorder.ts";
import type { Attempt, Ending } from "./recorder.ts";
import { Service } from "./service.ts";

/** More than any limit, so that there is always a caller that waits. */
const CALLERS = 100;
/** A caller that was not served and got no `Retry-After` comes back after this. */
const AGAIN_MS = 100;

/** Recovered: this part of the rate before the outage was served over this window. */
const BACK_SHARE = 0.8;
const BACK_WINDOW_MS = 250;

/** What one client came to in one phase. */
export interface Outcome {
  readonly client: string;
  readonly servedPerSecond: number;
  /** Of the requests served, from sending to the answer. */
  readonly p99Ms: number;
  readonly busy: number;
  readonly failed: number;
  readonly attemptsPerServed: number;
  /** Requests that came before the time which the client had been told. */
  readonly early: number;
  /** Most requests at once, as the service saw it. */
  readonly most: number;
  /** From the return of the service to the first answer, and to about as many as before, if ever. */
  readonly firstAfterMs?: number;
  readonly backAfterMs?: number | undefined;
}

/** Sends one client against one service of its own for as long as the phase lasts. */
export async function runClient(phase: Phase, create: CreateClient): Promise<Outcome> {
  const { warmUpMs, durationMs, outage } = phase;
  let service = await Service.start(phase.service);
  const { port } = service;
  const recorder = new Recorder();
  const client = create(recorder);
  const over = new AbortController();
  setMaxListeners(CALLERS, over.signal);
  const startedAtMs = systemTimer.now();
  const callers = Array.from({ length: CALLERS }, () => callOn(client, port, over.signal));
  let returnedAtMs: number | undefined;
  if (outage !== undefined) {
    await systemTimer.sleep(outage.atMs);
    await service.kill();
    await systemTimer.sleep(outage.lengthMs);
    service = await Service.start(phase.service, port);
    returnedAtMs = systemTimer.now();
  }
  await systemTimer.sleep(startedAtMs + durationMs - systemTimer.now());
  const endedAtMs = systemTimer.now();
  over.abort();
  client.close();
  await Promise.all(callers);
  const { early, most } = await service.counts();
  await service.kill();
  const span = { fromMs: startedAtMs + warmUpMs, untilMs: endedAtMs };
  const figures = { client: client.name, ...figuresOf(recorder.attempts, span), early, most };
  if (outage === undefined || returnedAtMs === undefined) return figures;
  const killedAtMs = startedAtMs + outage.atMs;
  return { ...figures, ...recoveryOf(recorder.attempts, span.fromMs, killedAtMs, returnedAtMs) };
}

async function callOn(client: Client, port: number, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const answer = await client.call(`http://127.0.0.1:${port}/`);
    if (answer === undefined) return;
    if (answer.isServed) continue;
    try {
      await systemTimer.sleep(answer.retryAfterMs ?? AGAIN_MS, over);
    } catch {
      return;
    }
  }
}

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

type Figures = Pick<Outcome, "servedPerSecond" | "p99Ms" | "busy" | "failed" | "attemptsPerServed">;

function figuresOf(attempts: readonly Attempt[], { fromMs, untilMs }: Span): Figures {
  const within = attempts.filter(({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < untilMs);
  const times = within
    .filter(({ ending }) => ending === "served")
    .map(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs)
    .toSorted((a, b) => a - b);
  const count = (of: Ending): number => within.filter(({ ending }) => ending === of).length;
  return {
    servedPerSecond: (times.length * 1000) / (untilMs - fromMs),
    p99Ms: times[Math.floor(0.99 * times.length)] ?? Number.NaN,
    busy: count("busy"),
    failed: count("failed"),
    attemptsPerServed: within.length / times.length,
  };
}

function recoveryOf(
  attempts: readonly Attempt[],
  fromMs: number,
  killedAtMs: number,
  returnedAtMs: number,
): Pick<Outcome, "firstAfterMs" | "backAfterMs"> {
  const served = attempts.filter(({ ending }) => ending === "served");
  const before = served.filter(
    ({ endedAtMs }) => endedAtMs >= fromMs && endedAtMs < killedAtMs,
  ).length;
  const enough = (BACK_SHARE * before * BACK_WINDOW_MS) / (killedAtMs - fromMs);
  const after = served
    .map(({ endedAtMs }) => endedAtMs)
    .filter((endedAtMs) => endedAtMs >= returnedAtMs)
    .toSorted((a, b) => a - b);
  const back = after.find((atMs, i) => {
    const last = after[i + Math.ceil(enough)];
    return last !== undefined && last - atMs <= BACK_WINDOW_MS;
  });
  return {
    firstAfterMs: (after[0] ?? Number.NaN) - returnedAtMs,
    backAfterMs: back === undefined ? undefined : back - returnedAtMs,
  };
}
