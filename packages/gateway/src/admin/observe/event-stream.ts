import type { Writable } from "node:stream";
import type { Timer } from "@sluice/core";
import { formatWallTime } from "@sluice/core/system";
import { describeEvent, eventJson } from "../../observe/describe-event.ts";
import type { EventFeed, TimedEvent } from "../../observe/event-feed.ts";
import type { Answer } from "../http/answer.ts";

/** Bytes that wait for one client; events beyond it are counted and not sent. */
const UNREAD_BYTES_MAX = 64 * 1024;

/** Below the idle time-outs of usual proxies, 60 s. */
const HEARTBEAT_MS = 15_000;

/** Events as server-sent events, from `afterId` on as far as they are kept. */
export function eventStream(feed: EventFeed, timer: Timer, afterId: number): Answer {
  return {
    status: 200,
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
    stream: (out) => {
      const listener = new StreamListener(out);
      const stopped = new AbortController();
      const unlisten = feed.listen((event) => listener.tell(event), afterId);
      void beat(listener, timer, stopped.signal);
      return () => {
        unlisten();
        stopped.abort();
      };
    },
  };
}

async function beat(listener: StreamListener, timer: Timer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    listener.beat();
    await timer.sleep(HEARTBEAT_MS, signal).catch(() => undefined);
  }
}

/** One client. A slow client misses events and gets their number. */
class StreamListener {
  readonly #out: Writable;
  #missed = 0;

  constructor(out: Writable) {
    this.#out = out;
  }

  tell(timed: TimedEvent): void {
    if (!this.#hasRoom()) {
      this.#missed++;
      return;
    }
    if (this.#missed > 0) {
      this.#out.write(`event: missed\ndata: ${JSON.stringify({ events: this.#missed })}\n\n`);
      this.#missed = 0;
    }
    this.#out.write(`id: ${timed.id}\nevent: ${timed.event.kind}\ndata: ${dataOf(timed)}\n\n`);
  }

  beat(): void {
    if (this.#hasRoom()) this.#out.write(": alive\n\n");
  }

  #hasRoom(): boolean {
    return !this.#out.destroyed && this.#out.writableLength < UNREAD_BYTES_MAX;
  }
}

function dataOf({ atMs, event }: TimedEvent): string {
  const time = formatWallTime(atMs);
  return JSON.stringify({ time, ...eventJson(event), text: describeEvent(event) });
}
