import { SECOND_MS } from "@sluice/core/internal";
import { formatWallTime } from "@sluice/core/system";
import { describeDispatchTarget } from "../../ingress/dispatch/dispatch-rate.ts";
import type { DispatchTarget } from "../../ingress/dispatch/dispatch-rate.ts";
import { describeTarget } from "../../ingress/limits/publish-limits.ts";
import type { ListedDispatchLimit } from "../../limit-book/dispatch-book.ts";
import type { ListedLimit } from "../../limit-book/limit-book.ts";
import type { LimitSource } from "../../limit-book/limit-source.ts";
import { describeSubscribeTarget } from "../../limit-book/subscribe-book.ts";
import type { ListedSubscribeRate } from "../../limit-book/subscribe-book.ts";
import { parseTopicName } from "../../name/topic-name.ts";
import type { AdminAddition } from "../admin-addition.ts";
import type { AdministeredGateway } from "../administered-broker.ts";
import { json } from "../http/answer.ts";
import type { Answer } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";
import type { AdminRequest } from "../http/request.ts";
import type { Method, Route } from "../http/router.ts";
import { limitFrom, subscribeRateFrom } from "./limit-body.ts";
import { limitOfPath } from "./limit-path.ts";
import { dispatchSetting, limitSetting, settingText, subscribeSetting } from "./setting.ts";
import type { PlaceOf, Setting } from "./setting.ts";

/** Limits of one answer; a limit of its own for each of 100,000 topics would take 20 MB. */
const LISTED_MAX = 10_000;

/** Names with slashes may be given encoded in one segment, or as they are: at most dispatch/subscription/T/N/TOPIC/NAME. */
const PARTS = ["first", "second", "third", "fourth", "fifth", "sixth"];

type Books = Pick<AdministeredGateway, "limitBook" | "dispatchBook" | "subscribeBook">;

/** A limit of any sort, as its book has it. */
interface NamedBook {
  /** The target in words. */
  readonly what: string;
  readonly setting: Setting;
  readonly listed: () => { readonly source: LimitSource } | undefined;
  readonly json: () => object | undefined;
  /** Before and after a change. */
  readonly rates: () => object | undefined;
  readonly set: (body: unknown) => Promise<void>;
  readonly unset: () => Promise<void>;
  readonly target: object;
}

/** The limits of publishing, of deliveries and of SUBSCRIBE: what is set, and changes of it. */
export function limitRoutes(
  books: Books,
  placeOf: PlaceOf,
  addition: AdminAddition,
): readonly Route[] {
  const paths = PARTS.map((_, index) => PARTS.slice(0, index + 1));
  return [
    {
      method: "GET",
      path: "/api/limits",
      handle: (request) => {
        request.requireKnownQuery([]);
        return json({ ...list(books, placeOf), ...addition.limits() });
      },
    },
    ...paths.flatMap((parts) => {
      const route = (
        method: Method,
        handle: (book: NamedBook, request: AdminRequest) => Answer | Promise<Answer>,
      ): Route => ({
        method,
        path: `/api/limits/${parts.map((part) => `{${part}}`).join("/")}`,
        handle: (request) => {
          request.requireKnownQuery([]);
          const segments = parts.map((part) => request.param(part));
          return handle(namedBook(books, segments, placeOf), request);
        },
      });
      return [
        route("GET", (book) => json(book.json() ?? notSet(book))),
        route("PUT", set),
        route("DELETE", unset),
      ];
    }),
  ];
}

function list({ limitBook, dispatchBook, subscribeBook }: Books, placeOf: PlaceOf): object {
  const [publish, dispatch, subscribe] = [
    limitBook.list(),
    dispatchBook.list(),
    subscribeBook.list(),
  ];
  const limits = publish.slice(0, LISTED_MAX).map((one) => limitJson(one, placeOf));
  const deliveries = dispatch
    .slice(0, LISTED_MAX - limits.length)
    .map((one) => dispatchJson(one, placeOf));
  const subscribes = subscribe
    .slice(0, LISTED_MAX - limits.length - deliveries.length)
    .map((one) => subscribeJson(one, placeOf));
  const all = publish.length + dispatch.length + subscribe.length;
  const leftOut = all - limits.length - deliveries.length - subscribes.length;
  return { limits, dispatch: deliveries, subscribe: subscribes, leftOut };
}

async function set(book: NamedBook, request: AdminRequest): Promise<Answer> {
  const from = book.rates();
  await book.set(request.json());
  return json({ ...book.target, from: from ?? null, to: book.rates() ?? null });
}

async function unset(book: NamedBook): Promise<Answer> {
  const former = book.listed();
  const from = book.rates();
  if (former === undefined || from === undefined) return notSet(book);
  if (former.source === "flow file")
    throw new HttpError(
      409,
      `this limit is in the flow file (${settingText(book.setting)}); set another one (PUT, or sluice limits set), set it to unlimited, or remove it there`,
    );
  await book.unset();
  return json({ ...book.target, from, to: book.rates() ?? null });
}

function notSet({ what }: NamedBook): never {
  throw new HttpError(404, `no limit is set for ${what}`);
}

function namedBook(
  { limitBook, dispatchBook, subscribeBook }: Books,
  segments: readonly string[],
  placeOf: PlaceOf,
): NamedBook {
  const named = limitOfPath(segments);
  switch (named.sort) {
    case "publish": {
      const { target } = named;
      const listed = (): ListedLimit | undefined => limitBook.get(target);
      return {
        target,
        what: describeTarget(target),
        setting: limitSetting(target),
        listed,
        json: () => mapped(listed(), (one) => limitJson(one, placeOf)),
        rates: () => listed()?.limit,
        set: (body) => limitBook.set(target, limitFrom(body)),
        unset: async () => void (await limitBook.unset(target)),
      };
    }
    case "dispatch": {
      const { target } = named;
      const listed = (): ListedDispatchLimit | undefined => dispatchBook.get(target);
      return {
        target,
        what: `the deliveries of ${describeDispatchTarget(target)}`,
        setting: dispatchSetting(target),
        listed,
        json: () => mapped(listed(), (one) => dispatchJson(one, placeOf)),
        rates: () => listed()?.rate,
        set: (body) => dispatchBook.set(target, limitFrom(body)),
        unset: async () => void (await dispatchBook.unset(target)),
      };
    }
    case "subscribe": {
      const { target } = named;
      const listed = (): ListedSubscribeRate | undefined => subscribeBook.get(target);
      return {
        target,
        what: `SUBSCRIBE of ${describeSubscribeTarget(target)}`,
        setting: subscribeSetting(target),
        listed,
        json: () => mapped(listed(), (one) => subscribeJson(one, placeOf)),
        rates: () => listed()?.rate,
        set: (body) => subscribeBook.set(target, subscribeRateFrom(body)),
        unset: async () => void (await subscribeBook.unset(target)),
      };
    }
  }
}

function mapped<T, R>(value: T | undefined, of: (value: T) => R): R | undefined {
  return value === undefined ? undefined : of(value);
}

interface Origin {
  readonly source: LimitSource;
  readonly setAtMs?: number;
}

/** Where a limit comes from: its key in a flow file, the line of it, or when it was set. */
function originJson({ source, setAtMs }: Origin, setting: Setting, placeOf: PlaceOf): object {
  const place = source === "flow file" ? placeOf(setting) : undefined;
  return {
    source,
    setting: settingText(setting),
    ...(place !== undefined && { place }),
    ...(setAtMs !== undefined && { setAt: formatWallTime(setAtMs) }),
  };
}

/** A limit as JSON has it: rates per second, null for none. */
function limitJson({ target, limit, topics, ...origin }: ListedLimit, placeOf: PlaceOf): object {
  return {
    ...target,
    messages: limit.messages ?? null,
    bytes: limit.bytes ?? null,
    ...originJson(origin, limitSetting(target), placeOf),
    ...(topics !== undefined && { topics }),
  };
}

/** A limit of deliveries, in messages and bytes per period. */
function dispatchJson({ target, rate, ...origin }: ListedDispatchLimit, placeOf: PlaceOf): object {
  return {
    ...withFullTopic(target),
    messages: rate.messages ?? null,
    bytes: rate.bytes ?? null,
    periodMs: rate.periodMs ?? SECOND_MS,
    ...originJson(origin, dispatchSetting(target), placeOf),
  };
}

/** How often one consumer may subscribe; null for no limit. */
function subscribeJson({ target, rate, ...origin }: ListedSubscribeRate, placeOf: PlaceOf): object {
  return {
    ...(target.level === "topic" ? { ...target, name: fullTopic(target.name) } : target),
    subscribes: rate.subscribes ?? null,
    periodMs: rate.periodMs,
    ...originJson(origin, subscribeSetting(target), placeOf),
  };
}

/** Flow files name topics in any form; answers name them in one. */
function withFullTopic(target: DispatchTarget): DispatchTarget {
  if (target.level === "subscription") return { ...target, topic: fullTopic(target.topic) };
  if (target.level === "topic" || target.level === "topic-subscriptions")
    return { ...target, name: fullTopic(target.name) };
  return target;
}

function fullTopic(name: string): string {
  return parseTopicName(name).full;
}
