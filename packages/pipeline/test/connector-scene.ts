import { SeededRandom } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import type { Message } from "../src/message.ts";
import type { ConnectorEvent, OpenContext } from "../src/connector/open-context.ts";
import { END } from "../src/connector/source.ts";
import type { ReadOptions, Source } from "../src/connector/source.ts";

/** A context as a pipeline gives it, in real time, that keeps what is told. */
export interface ConnectorScene {
  readonly context: OpenContext;
  readonly told: ConnectorEvent[];
}

export function connectorScene(name = "shop/vertex"): ConnectorScene {
  const told: ConnectorEvent[] = [];
  const context: OpenContext = {
    name,
    timer: systemTimer,
    random: new SeededRandom(7),
    signal: new AbortController().signal,
    tell: (event) => told.push(event),
  };
  return { context, told };
}

const NEVER = new AbortController().signal;

/** Options of calls that nothing aborts. */
export const unhurried: ReadOptions = { signal: NEVER, waitMs: 5_000 };

export function messageOf(value: unknown, rest: Partial<Message> = {}): Message {
  return { id: rest.id ?? "1", headers: {}, ...rest, value };
}

/** Reads until `count` messages are there. */
export async function readCount<T>(source: Source<T>, count: number): Promise<Message<T>[]> {
  const read: Message<T>[] = [];
  const giveUpMs = systemTimer.now() + 30_000;
  while (read.length < count && systemTimer.now() < giveUpMs) {
    const more = await source
      .read(count - read.length, { signal: NEVER, waitMs: 1_000 })
      .catch(() => []);
    if (more === END) break;
    read.push(...more);
  }
  return read;
}

/** Resolves when `holds` does; rejects after 20 s. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const giveUpMs = systemTimer.now() + 20_000;
  while (!holds()) {
    if (systemTimer.now() > giveUpMs) throw new Error(`not within 20 s: ${what}`);
    await systemTimer.sleep(5);
  }
}

/** The value, which must be there. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing is there");
  return value;
}

export const textOf = ({ value }: Message): string =>
  Buffer.isBuffer(value) ? value.toString() : String(value);
