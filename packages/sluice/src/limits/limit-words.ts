import { ConfigError } from "@sluice/core";
import { parseDurationMs, readPerSecond } from "@sluice/core/internal";
import type { RateUnit } from "@sluice/core/internal";

/** What a limit is set for, in the words of the command line. */
export const TARGET =
  "broker, default, group NAME, namespace TENANT/NAMESPACE, topic NAME or vertex PIPELINE/VERTEX; dispatch or subscribe before it for deliveries and for SUBSCRIBE";

const DISPATCH_TARGET =
  "dispatch broker, default, subscription-default, namespace[-subscriptions] TENANT/NAMESPACE, topic[-subscriptions] NAME or subscription TOPIC NAME";
const SUBSCRIBE_TARGET = "subscribe default, namespace TENANT/NAMESPACE or topic NAME";

/** How many names follow a level. */
type Levels = Readonly<Record<string, number>>;

const PUBLISH: Levels = { broker: 0, default: 0, group: 1, namespace: 1, topic: 1 };
/** The gateway refuses `group` itself, and says what to do instead. */
const DISPATCH: Levels = {
  broker: 0,
  default: 0,
  "subscription-default": 0,
  group: 1,
  namespace: 1,
  "namespace-subscriptions": 1,
  topic: 1,
  "topic-subscriptions": 1,
  subscription: 2,
};
const SUBSCRIBE: Levels = { broker: 0, default: 0, group: 1, namespace: 1, topic: 1 };

const RATES = "messages=1000/s, bytes=10MB/s or unlimited";

/** A rate without its unit, as in `limits set topic orders 100/s`. */
const BARE_RATE = /^\d[\d.,]*(?:[kKMGT]i?)?B?(?:\/(?:s|min|h))?$/;

const SUBSCRIBES = /^(\d+)(?:\/(.+))?$/;
const SUBSCRIBE_PERIOD_MS = 30_000;

/** The words of a command that name what the limit is for, and those that are rates. */
export function splitWords(words: readonly string[]): {
  readonly target: readonly string[];
  readonly rates: readonly string[];
} {
  return { target: words.filter((word) => !isRate(word)), rates: words.filter(isRate) };
}

/** Of a vertex too: `max=1000`. */
function isRate(word: string): boolean {
  return word.includes("=") || word === "unlimited";
}

/** The path of `/api/limits`. @throws ConfigError if no limit can be set for these words. */
export function pathOf(words: readonly string[]): string {
  const [sort = ""] = words;
  if (sort === "vertex") return `/api/limits/vertex/${vertexPath(words.slice(1))}`;
  if (sort === "dispatch")
    return `/api/limits/dispatch${levelPath(words, DISPATCH, DISPATCH_TARGET)}`;
  if (sort === "subscribe")
    return `/api/limits/subscribe${levelPath(words, SUBSCRIBE, SUBSCRIBE_TARGET)}`;
  return `/api/limits${levelPath(["publish", ...words], PUBLISH, TARGET)}`;
}

/** A rate must say what it counts. */
export function requireUnit(target: readonly string[]): void {
  const bare = target.slice(1).find((word) => BARE_RATE.test(word));
  if (bare !== undefined && target.length > 1)
    throw new ConfigError(`${bare} does not say what it counts; expected ${RATES}`);
}

/** The body of a change. @throws ConfigError for a rate that is none. */
export function bodyOf(target: readonly string[], rates: readonly string[]): object {
  if (rates.length === 1 && rates[0] === "unlimited") return { unlimited: true };
  if (target[0] === "vertex") return vertexBody(rates);
  return target[0] === "subscribe" ? subscribeBody(rates) : rateBody(rates);
}

function vertexPath(names: readonly string[]): string {
  const [, pipeline, vertex] = /^([^/]+)\/([^/]+)$/.exec(names.join("/")) ?? [];
  if (pipeline === undefined || vertex === undefined)
    throw new ConfigError(
      `"vertex ${names.join(" ")}" is not a vertex; expected vertex PIPELINE/VERTEX, such as vertex orders/out`,
    );
  return `${encodeURIComponent(pipeline)}/${encodeURIComponent(vertex)}`;
}

const VERTEX_LIMITS =
  "max=1000, min=10, rampUpDuration=60s, concurrency=4 or readBatchSize=100, some of them";

/** Numaflow's keys; the administration checks their values. */
function vertexBody(words: readonly string[]): object {
  const entries = words.map((word) => {
    const [, key, value] =
      /^(max|min|rampUpDuration|concurrency|readBatchSize)=(.+)$/.exec(word) ?? [];
    if (key === undefined || value === undefined)
      throw new ConfigError(`${word} is not known; expected ${VERTEX_LIMITS}`);
    if (key === "rampUpDuration") return [key, value];
    const [, count] = /^(\d+)(?:\/s)?$/.exec(value) ?? [];
    if (count === undefined)
      throw new ConfigError(`${word} is wrong; expected a whole number, such as ${key}=100`);
    return [key, Number(count)];
  });
  if (entries.length === 0) throw new ConfigError(`no limit is given; expected ${VERTEX_LIMITS}`);
  return Object.fromEntries(entries) as object;
}

function levelPath(
  [, level = "", ...names]: readonly string[],
  levels: Levels,
  expected: string,
): string {
  const target = [level, ...names].join(" ");
  const count = Object.hasOwn(levels, level) ? levels[level] : undefined;
  if (count === undefined)
    throw new ConfigError(
      `"${target}" is not something that a limit is set for; expected ${expected}`,
    );
  if (names.length !== count)
    throw new ConfigError(
      `"${target}" has ${counted(names.length)} after ${level} and needs ${counted(count)}; expected ${expected}`,
    );
  return [level, ...names].map((word) => `/${encodeURIComponent(word)}`).join("");
}

function counted(names: number): string {
  return names === 1 ? "1 name" : `${names === 0 ? "no" : names} names`;
}

function rateBody(words: readonly string[]): object {
  const body: { [Unit in RateUnit]?: number } = {};
  for (const word of words) {
    const [unit = "", ...value] = word.split("=");
    if (unit !== "messages" && unit !== "bytes")
      throw new ConfigError(`${word} is not known; expected ${RATES} alone`);
    const read = readPerSecond(value.join("="), unit);
    if ("expected" in read) throw new ConfigError(`${word} is wrong; expected ${read.expected}`);
    body[unit] = read.perSecond;
  }
  if (words.length === 0) throw new ConfigError(`no rate is given; expected ${RATES}`);
  return body;
}

function subscribeBody(words: readonly string[]): object {
  const expected = "subscribes=10/30s, or unlimited alone";
  const [word, ...others] = words;
  if (word === undefined) throw new ConfigError(`no rate is given; expected ${expected}`);
  const [unit, value = ""] = word.split("=");
  const [, count, period] = SUBSCRIBES.exec(value) ?? [];
  const periodMs = period === undefined ? SUBSCRIBE_PERIOD_MS : parseDurationMs(period);
  if (unit !== "subscribes" || others.length > 0 || count === undefined || periodMs === undefined)
    throw new ConfigError(`${words.join(" ")} is wrong; expected ${expected}`);
  return { subscribes: Number(count), periodMs };
}
