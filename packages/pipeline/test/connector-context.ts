import type { Timer } from "@sluice/core";
import { systemRandom, systemTimer } from "@sluice/core/system";
import { END } from "../src/connector/source.ts";
import type { ConnectorEvent, OpenContext } from "../src/connector/open-context.ts";
import type { Source } from "../src/connector/source.ts";
import type { Message } from "../src/message.ts";

export interface TestContext extends OpenContext {
  /** What the connector has told. */
  readonly told: ConnectorEvent[];
}

/** What a pipeline would give to a connector. */
export function testContext(timer: Timer = systemTimer, name: string = "test/vertex"): TestContext {
  const told: ConnectorEvent[] = [];
  const { signal } = new AbortController();
  return { name, timer, random: systemRandom, signal, told, tell: (event) => told.push(event) };
}

/** One read; the end of the source counts as no messages. */
export async function readOnce<T>(
  source: Source<T>,
  countMax: number = 100,
  waitMs: number = 0,
): Promise<readonly Message<T>[]> {
  const { signal } = new AbortController();
  const read = await source.read(countMax, { signal, waitMs });
  return read === END ? [] : read;
}

/** Reads until `count` messages have come, or the source ends, or nothing comes for `waitMs`. */
export async function readMany<T>(
  source: Source<T>,
  count: number,
  waitMs: number = 5000,
): Promise<Message<T>[]> {
  const messages: Message<T>[] = [];
  while (messages.length < count) {
    const read = await readOnce(source, count - messages.length, waitMs);
    if (read.length === 0) break;
    messages.push(...read);
  }
  return messages;
}

export function textsOf(messages: readonly Message[]): string[] {
  return messages.map(({ value }) => String(value));
}

export function messagesOf(...values: readonly unknown[]): Message[] {
  return values.map((value, index) => ({ id: `m${index}`, value, headers: {} }));
}

export const neverAborted: AbortSignal = new AbortController().signal;

/** How long `untilResolved` tries; only a failing test takes this long. */
const PATIENCE_MS = 60_000;

/** Tries again what rejects, as a pipeline does while a server is away. */
export async function untilResolved(act: () => Promise<void>): Promise<void> {
  const untilMs = systemTimer.now() + PATIENCE_MS;
  for (;;) {
    try {
      await act();
      return;
    } catch (error) {
      if (systemTimer.now() > untilMs) throw error;
      await systemTimer.sleep(50);
    }
  }
}
