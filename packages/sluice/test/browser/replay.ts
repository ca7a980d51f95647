/** Samples of a running flow, recorded once and sent to a page again and again, as fast as the test wants. */
import type { Page } from "playwright-core";

/** Time of the page between two samples, ms, and samples of five minutes. */
export const SAMPLE_MS = 500;
const PAST = 600;
/** Samples between two frames of `play`. With one, a quarter of an hour takes minutes on a machine that gives few frames. */
const PER_FRAME = 4;

interface SseEvent {
  readonly name: string;
  readonly data: string;
}

/** What `/api/live` sent while it was recorded, each event as its name and its data. */
export interface Recording {
  /** `hello` and `changes`, which a stream begins with, and what changed meanwhile. */
  readonly opening: readonly SseEvent[];
  /** `sample`, and the details of the topic and of the pool that came with it. */
  readonly samples: readonly (readonly SseEvent[])[];
}

/** The topic and the pool of the quickstart whose details are recorded. */
const TOPIC = "public/default/orders";
const POOL = "quickstart/payments/in";

/** Records `count` samples of the flow at `admin`, two a second, with the details of one topic and of one pool. */
export async function record(admin: string, count: number): Promise<Recording> {
  // A stream has the details of one of them.
  const [ofTopic, ofPool] = await Promise.all([
    recordStream(`${admin}/api/live?topic=${encodeURIComponent(TOPIC)}`, count),
    recordStream(`${admin}/api/live?pool=${encodeURIComponent(POOL)}`, count),
  ]);
  const samples = ofTopic.samples.map((events, index) => [
    ...events,
    ...(ofPool.samples[index]?.filter(({ name }) => name === "pool") ?? []),
  ]);
  return { opening: ofTopic.opening, samples };
}

async function recordStream(url: string, count: number): Promise<Recording> {
  const { body } = await fetch(url);
  if (body === null) throw new Error(`${url} answered without a body`);
  const opening: SseEvent[] = [];
  const samples: SseEvent[][] = [];
  for await (const event of eventsOf(body)) {
    const { name } = event;
    // Leaving the loop ends the connection.
    if (name === "sample" && samples.length === count) return { opening, samples };
    if (name === "sample") samples.push([event]);
    else if (name === "topic" || name === "pool") samples.at(-1)?.push(event);
    else if (name !== "past" && name !== "poolPast") opening.push(event);
  }
  throw new Error(`${url} ended after ${samples.length} of ${count} samples`);
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (name !== undefined && data !== undefined) yield { name, data };
    }
  }
}

/**
 * Runs in the page before its own scripts: `/api/live` is the recording, with its wall times moved. A stream opens with
 * five minutes of samples; the next ones come when the test asks for them, a few in each frame, or two a second.
 */
const SERVE = `(recording) => {
  const firstMs = Date.now();
  let sent = 0;
  let open;
  const moved = ({ name, data }, index) => {
    const shiftMs = firstMs + index * ${SAMPLE_MS} - recording.firstMs;
    return { name, data: data.replaceAll(/\\b1\\d{12}\\b/g, (ms) => String(Number(ms) + shiftMs)) };
  };
  const at = (index) => {
    const count = recording.samples.length;
    const turn = ((index % count) + count) % count;
    return recording.samples[turn].map((event) => moved(event, index - turn));
  };
  const send = (events) => {
    const text = events.map(({ name, data }) => "event: " + name + "\\ndata: " + data + "\\n\\n").join("");
    open?.controller.enqueue(new TextEncoder().encode(text));
  };
  const next = () => {
    const events = at(sent++);
    send(events.filter(({ name }) => name === "sample" || open?.wanted.has(name)));
  };
  const past = () => Array.from({ length: ${PAST} }, (_, age) =>
    at(sent - ${PAST} + age).find(({ name }) => name === "sample").data);
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    if (!String(url).startsWith("/api/live")) return await realFetch(url, init);
    const wanted = new URL(url, location.href).searchParams;
    const body = new ReadableStream({
      start: (controller) => {
        open = { controller, wanted };
        init.signal.addEventListener("abort", () => {
          controller.error(init.signal.reason);
          if (open?.controller === controller) open = undefined;
        });
        send(recording.opening.map((event) => moved(event, sent)));
        send([{ name: "past", data: "[" + past().join(",") + "]" }]);
      },
    });
    return new Response(body);
  };
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  globalThis.replay = {
    play: async (count) => {
      for (let done = 1; done <= count; done++) {
        next();
        if (done % ${PER_FRAME} === 0 || done === count) await frame();
      }
    },
    live: () => { setInterval(next, ${SAMPLE_MS}); },
  };
}`;

/** For `open`, as the script that runs before the page's own. */
export function replayScript({ opening, samples }: Recording): string {
  const firstMs = Math.min(
    ...samples.flat().map(({ data }) => Number(/\b1\d{12}\b/.exec(data)?.[0] ?? Infinity)),
  );
  return `(${SERVE})(${JSON.stringify({ opening, samples, firstMs })})`;
}

/** The next `count` samples, as fast as the page draws. */
export async function play(page: Page, count: number): Promise<void> {
  await page.evaluate(`replay.play(${count})`);
}

/** From now on two samples a second. */
export async function playLive(page: Page): Promise<void> {
  await page.evaluate("replay.live()");
}
