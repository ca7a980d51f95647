import type { Why } from "@sluice/gateway/admin";
import { durationText, perSecondText, shortTopic } from "@sluice/gateway/internal";
import { localName } from "./local-name.ts";
import type { WholeWhy } from "./why-lines.ts";
import { wrapped } from "./wrapped.ts";

/** The limit at which none of the known producers would wait: what is asked, rounded up to two digits. */
export function enoughOf({ asked, limit }: Why): number | undefined {
  if (asked === undefined || limit.messages === undefined || asked <= limit.messages)
    return undefined;
  const step = 10 ** Math.max(0, Math.floor(Math.log10(asked)) - 1);
  return Math.ceil(asked / step) * step;
}

/** The answer in one sentence; undefined if a sentence further down says as much. */
export function headlineOf({ waiting }: WholeWhy, name: string): string | undefined {
  const first = waiting.toSorted((a, b) => b.forMs - a.forMs)[0];
  if (first === undefined) return undefined;
  const waiters = waiting.reduce(
    (sum, { producers, others }) => sum + producers.length + others,
    0,
  );
  const quiet = waiting.length === 1 ? first.notWaiting?.length : undefined;
  const wait = waiters === 1 ? "waits" : "wait";
  const who =
    quiet === undefined
      ? `${waiters} producer${waiters === 1 ? "" : "s"}`
      : `${waiters} of its ${waiters + quiet} producer${waiters + quiet === 1 ? "" : "s"}`;
  const where =
    first.reason === "topic-rate" ? "is at its limit" : `waits for ${limiterText(first)}`;
  return `${name} ${where}: ${who} ${wait}, for ${durationText(first.forMs)}.`;
}

function limiterText({ limiter }: Why): string {
  return limiter === "broker" ? "the limit of the gateway" : `the limit of ${limiter}`;
}

/** What to do about it, below all that waits. */
export function* adviceLines(
  answer: WholeWhy,
  name: string | undefined,
  { width, url }: { readonly width: number; readonly url: string | undefined },
): Generator<string> {
  const backlog = backlogAdvice(answer);
  if (backlog !== undefined) yield* wrapped(backlog, width);
  const { vertices = [] } = answer.pipelines ?? {};
  const places = [...answer.waiting, ...vertices].map(({ setting }) => setting?.place);
  // What came through standard input has no line to edit.
  if (places.some((place) => place !== undefined && !place.startsWith("-:")))
    yield* wrapped(
      "A command after try holds at once, for the whole fleet. A line of the flow file can be edited: it is read again within a second or two.",
      width,
    );
  const data = `As data: sluice why${name === undefined ? "" : ` ${name}`} --json`;
  const page = url === undefined ? undefined : `The same in the browser: ${url}${pageOf(answer)}`;
  const both = [page, data].filter((part) => part !== undefined);
  const line = both.join("     ");
  yield* line.length > width ? both : [line];
}

/** The page of the dashboard about an answer: that of the topic if it is about one, else the overview. */
function pageOf({ waiting }: WholeWhy): string {
  const [topic, ...others] = new Set(waiting.map((why) => shortTopic(why.topic)));
  if (topic === undefined || others.length > 0) return "/";
  return `/topics/${topic.split("/").map(encodeURIComponent).join("/")}`;
}

/** A topic that takes more only moves the queue to a source that reads less. */
function backlogAdvice({ waiting, pipelines }: WholeWhy): string | undefined {
  const { vertices = [] } = pipelines ?? {};
  for (const why of waiting) {
    const enough = enoughOf(why);
    if (enough === undefined || why.reason !== "topic-rate") continue;
    const topic = shortTopic(why.topic);
    const reader = vertices.find(
      ({ role, peer, share }) =>
        role === "source" &&
        peer !== undefined &&
        fullName(peer) === fullName(topic) &&
        share?.ceiling !== undefined &&
        share.ceiling < enough,
    );
    const ceiling = reader?.share?.ceiling;
    if (reader === undefined || ceiling === undefined) continue;
    return `Raising the limit of ${localName(topic)} alone would make the backlog of ${reader.vertex} grow faster, by ${perSecondText(Math.round(enough - ceiling))} at ${perSecondText(enough)}.`;
  }
  return undefined;
}

function fullName(topic: string): string {
  const short = topic.replace(/^persistent:\/\//, "");
  return short.includes("/") ? short : `public/default/${short}`;
}
