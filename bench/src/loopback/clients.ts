import { throttledFetch } from "@sluice/egress";
import pLimit from "p-limit";
import type { Recorder } from "./recorder.ts";

/** How an attempt ended for its caller. */
interface Answer {
  readonly isServed: boolean;
  /** When to come back, if the service said so. */
  readonly retryAfterMs?: number;
}

/** A way to send requests, with as many callers as like. */
export interface Client {
  readonly name: string;
  /** Undefined: over. */
  call(url: string): Promise<Answer | undefined>;
  /** Who waits is sent away. */
  close(): void;
}

export type CreateClient = (recorder: Recorder) => Client;

export const ADAPTIVE = "throttledFetch, adaptive";

export function adaptive(recorder: Recorder): Client {
  let isClosed = false;
  const send = throttledFetch({
    concurrency: "adaptive",
    fetch: (input, init) => recorder.send(input, init),
    // The moment from which a gate knows what an answer says.
    classify: (settled) => {
      if ("value" in settled) recorder.note(settled.value as Response);
      return undefined;
    },
  });
  return {
    name: ADAPTIVE,
    call: async (url) => {
      try {
        return await answerOf(await send(url));
      } catch {
        return isClosed ? undefined : { isServed: false };
      }
    },
    close: () => {
      isClosed = true;
      send.gates.close();
    },
  };
}

export function fixed(concurrency: number): CreateClient {
  return (recorder) => {
    const limit = pLimit(concurrency);
    let isClosed = false;
    const one = async (url: string): Promise<Answer | undefined> => {
      if (isClosed) return undefined;
      try {
        const response = await recorder.send(url, undefined);
        recorder.note(response);
        return await answerOf(response);
      } catch {
        return { isServed: false };
      }
    };
    return {
      name: `fetch, ${concurrency} at once`,
      call: (url) => limit(one, url),
      close: () => {
        isClosed = true;
      },
    };
  };
}

async function answerOf(response: Response): Promise<Answer> {
  await response.text();
  const retryAfter = response.headers.get("retry-after");
  if (retryAfter === null) return { isServed: response.ok };
  return { isServed: response.ok, retryAfterMs: 1000 * Number(retryAfter) };
}
