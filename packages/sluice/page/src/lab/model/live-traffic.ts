import type { LiveSample } from "../../../../src/live/live-message.ts";
import type { Traffic } from "./state.ts";

/** Seconds that are taken of the running flow: as many as the page keeps. */
const SECONDS_MAX = 300;

/** What the running flow was asked for, second by second; undefined if nothing is known of it. */
export function liveTraffic(
  samples: readonly LiveSample[],
): (Traffic & { readonly of: string }) | undefined {
  const newest = samples.at(-1);
  const of = newest === undefined ? undefined : busiestOf(newest);
  if (of === undefined || newest === undefined) return undefined;
  const sums = new Map<number, { sum: number; count: number }>();
  for (const sample of samples) {
    const ago = Math.floor((newest.atMs - sample.atMs) / 1000);
    const asked = askedOf(sample, of);
    if (asked === undefined || ago >= SECONDS_MAX) continue;
    const { sum, count } = sums.get(ago) ?? { sum: 0, count: 0 };
    sums.set(ago, { sum: sum + asked, count: count + 1 });
  }
  if (sums.size < 2) return undefined;
  const seconds = Math.max(...sums.keys()) + 1;
  let last = 0;
  const amounts = Array.from({ length: seconds }, (_, second) => {
    const found = sums.get(seconds - 1 - second);
    // A second without a sample, such as one without a connection, is as the one before.
    return (last = found === undefined ? last : found.sum / found.count);
  });
  const peak = Math.max(...amounts);
  if (peak === 0) return undefined;
  return {
    of,
    shape: "live",
    peak: Math.ceil(peak),
    values: amounts.map((amount) => amount / Math.ceil(peak)),
  };
}

/** The topic that is asked for most, else the source that reads most. */
function busiestOf({ gateway, pipelines }: LiveSample): string | undefined {
  const topics = (gateway?.topics ?? []).toSorted((x, y) => y.asked - x.asked);
  if (topics[0] !== undefined) return topics[0].name;
  const [pipeline] = pipelines;
  const source = pipeline?.vertices[0];
  return pipeline === undefined || source === undefined
    ? undefined
    : `${pipeline.name} / ${source.name}`;
}

function askedOf({ gateway, pipelines }: LiveSample, of: string): number | undefined {
  const topic = gateway?.topics.find(({ name }) => name === of);
  if (topic !== undefined) return topic.asked;
  for (const { name, vertices } of pipelines)
    for (const vertex of vertices) if (`${name} / ${vertex.name}` === of) return vertex.rate;
  return undefined;
}
