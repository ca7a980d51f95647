import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { throttledFetch } from "@sluice/egress";
import type { Loop } from "../measure.ts";

const PEER = fileURLToPath(new URL("child.js", import.meta.url));

/** Requests under way at once; fewer than the limit, so that no request waits. */
const UNDER_WAY = 20;
const CONCURRENCY = 100;

/** What the others are measured against. */
export const BARE = "fetch";
export const BARE_TIMED = "fetch, with a timeout";

export interface Fetches {
  readonly plain: Record<string, Loop>;
  /** A signal costs fetch itself more than all the rest of a gate. */
  readonly timed: Record<string, Loop>;
  close(): void;
}

/** Requests over loopback whose answers are read as JSON. */
export async function startFetches(): Promise<Fetches> {
  const peer = fork(PEER);
  const [port] = (await once(peer, "message")) as [number];
  const url = `http://127.0.0.1:${port}/`;
  const fixed = throttledFetch({ concurrency: CONCURRENCY });
  const adaptive = throttledFetch({
    concurrency: { initialLimit: CONCURRENCY, maxLimit: CONCURRENCY },
  });
  const timed = throttledFetch({ concurrency: CONCURRENCY, call: { deadlineMs: 5000 } });
  return {
    plain: {
      [BARE]: loop(() => fetch(url)),
      "throttledFetch, fixed": loop(() => fixed(url)),
      "throttledFetch, adaptive": loop(() => adaptive(url)),
    },
    timed: {
      [BARE_TIMED]: loop(() => fetch(url, { signal: AbortSignal.timeout(5000) })),
      "throttledFetch, with a deadline": loop(() => timed(url)),
    },
    close: () => peer.disconnect(),
  };
}

function loop(send: () => Promise<Response>): Loop {
  return async (count) => {
    let left = count;
    let done = 0;
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const response = await send();
        const { answer } = (await response.json()) as { answer: number };
        if (answer === 42) done++;
      }
    };
    await Promise.all(Array.from({ length: UNDER_WAY }, caller));
    return done;
  };
}
