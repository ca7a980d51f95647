import { ConfigError } from "@sluice/core";
import { requireKnownKeys } from "@sluice/core/internal";
import { createInboundLimiter } from "../inbound-limiter.ts";
import type { InboundDecision, InboundLimiter, LeavingClient } from "../inbound-limiter.ts";
import { INBOUND_KEYS } from "../inbound-options.ts";
import type { InboundLimiterOptions } from "../inbound-options.ts";
import type { AnswerHeaders, Refused } from "../refusal.ts";
import { clientKey } from "./client-key.ts";

/** The parts of an answer that replace the default ones; fields are added to the default fields. */
export interface Answer {
  readonly status?: number;
  readonly headers?: AnswerHeaders;
  readonly body?: string;
}

/** Rules for requests: their key, their cost, exemptions, and the answer to a refused one. */
export interface RequestRules<R> {
  /**
   * The key whose quota a request uses, such as a user that has been verified. Default, and for requests
   * of which it returns undefined: the client's address. Whatever a client can make up, such as a field
   * that was not verified, is no key: each new value is a new quota.
   */
  readonly key?: (request: R) => string | undefined;
  /** What a request counts for, whole. @default 1 */
  readonly cost?: (request: R) => number;
  /** Whether a request passes unlimited and uncounted. Default: none does. */
  readonly exempt?: (request: R) => boolean;
  /** Changes the answer to a refused request. Default: status 429 or 503, `application/problem+json`. */
  readonly answer?: (refused: Refused, request: R) => Answer;
}

/** A middleware makes its own limiter, or uses one that others use as well. */
export type LimitOptions<R> = RequestRules<R> &
  (InboundLimiterOptions | { readonly limiter: InboundLimiter });

/** The whole answer to a refused request. */
interface RefusedAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

/** Judges requests, and answers those that it refuses. */
export interface Judge<R> {
  /** Undefined for requests that are exempt. */
  readonly judge: (
    request: R,
    client?: LeavingClient,
  ) => InboundDecision | Promise<InboundDecision> | undefined;
  readonly answer: (refused: Refused, request: R) => RefusedAnswer;
}

const RULE_KEYS = ["key", "cost", "exempt", "answer"] satisfies (keyof RequestRules<unknown>)[];

const KEYS: ReadonlySet<string> = new Set([...RULE_KEYS, "limiter", ...INBOUND_KEYS]);

/** A limiter that is shared has its settings already. */
const SHARED_KEYS: ReadonlySet<string> = new Set([...RULE_KEYS, "limiter"]);

/** Addresses whose keys are remembered; beyond it all are forgotten and remembered anew. */
const ADDRESSES_MAX = 10_000;

/** `middleware` names the function in messages. */
export function createJudge<R>(
  middleware: string,
  options: LimitOptions<R>,
  addressOf: (request: R) => string | undefined,
): Judge<R> {
  const found: unknown = options;
  if (typeof found !== "object" || found === null)
    throw new ConfigError(
      `${middleware} needs options, such as ${middleware}({ rate: "100/min" }) or ${middleware}({ limiter })`,
    );
  if ("admit" in found)
    throw new ConfigError(`${middleware} takes options; write ${middleware}({ limiter })`);
  if ("limiter" in found) requireKnownKeys(`${middleware} with a limiter`, options, SHARED_KEYS);
  else requireKnownKeys(middleware, options, KEYS);
  const { key, cost, exempt, answer, ...rest } = options;
  for (const [name, value] of Object.entries({ key, cost, exempt, answer }))
    if (value !== undefined && typeof value !== "function")
      throw new ConfigError(
        `${name} is ${JSON.stringify(value)}; it must be a function of the request`,
      );
  const limiter = "limiter" in rest ? requireLimiter(rest.limiter) : createInboundLimiter(rest);
  const keyOfAddress = rememberKeys();
  return {
    judge: (request, client) => {
      if (exempt?.(request) === true) return undefined;
      const own = key?.(request);
      // Prefixed, so that a chosen key never equals the address of another client.
      const quotaKey = own === undefined ? keyOfAddress(addressOf(request)) : `key ${own}`;
      return limiter.admit(quotaKey, cost?.(request), client);
    },
    answer: (refused, request) => {
      const { status, headers, body } = refused;
      if (answer === undefined) return refused;
      const own = answer(refused, request);
      return {
        status: own.status ?? status,
        headers: own.headers === undefined ? headers : withFields(headers, own.headers),
        body: own.body ?? body,
      };
    },
  };
}

function requireLimiter(limiter: InboundLimiter): InboundLimiter {
  const found: unknown = limiter;
  if (typeof found === "object" && found !== null && "admit" in found) return limiter;
  throw new ConfigError(
    `limiter is ${JSON.stringify(found)}; use createInboundLimiter({ rate: "100/min" })`,
  );
}

/** Names of fields are the same in any case. */
function withFields(headers: AnswerHeaders, own: AnswerHeaders): AnswerHeaders {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...own };
}

/** To read an address takes longer than all the rest of a decision. */
function rememberKeys(): (address: string | undefined) => string {
  const keys = new Map<string | undefined, string>();
  return (address) => {
    const known = keys.get(address);
    if (known !== undefined) return known;
    if (keys.size >= ADDRESSES_MAX) keys.clear();
    const key = `address ${clientKey(address)}`;
    keys.set(address, key);
    return key;
  };
}
