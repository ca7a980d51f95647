import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import type { Token } from "@sluice/pulsar";
import { request } from "undici";
import { Wait } from "../wait.ts";

export interface TopicBacklogOptions {
  /** Pulsar's admin, such as `http://localhost:8080`. */
  readonly adminUrl: string;
  readonly subscription: string;
  readonly token: Token | undefined;
}

/** Longest wait for one answer of the admin. An autoscaler asks about every 30 s and prefers no answer to a late one. */
const ANSWER_MS = 5_000;

/**
 * Reads the backlog of a subscription from Pulsar's admin: the binary protocol does not tell it. Topics are
 * full names, one for each partition.
 */
export class TopicBacklog {
  readonly #options: TopicBacklogOptions;
  readonly #timer: Timer;
  readonly #never = new AbortController().signal;

  constructor(options: TopicBacklogOptions, timer: Timer) {
    if (!URL.canParse(options.adminUrl))
      throw new ConfigError(
        `adminUrl is ${JSON.stringify(options.adminUrl)}; use the address of Pulsar's admin, e.g. "http://localhost:8080"`,
      );
    this.#options = options;
    this.#timer = timer;
  }

  /** The sum over the topics; undefined if the admin does not answer for one of them. */
  async read(topics: readonly string[]): Promise<number | undefined> {
    let sum = 0;
    for (const topic of topics) {
      const backlog = await this.#of(topic).catch(() => undefined);
      if (backlog === undefined) return undefined;
      sum += backlog;
    }
    return sum;
  }

  async #of(topic: string): Promise<number | undefined> {
    const { adminUrl, subscription, token } = this.#options;
    const url = new URL(`admin/v2/${topic.replace("://", "/")}/stats`, withSlash(adminUrl));
    const bearer = typeof token === "function" ? await token() : token;
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const wait = new Wait(this.#timer, ANSWER_MS, this.#never);
    try {
      const { statusCode, body } = await request(url, { headers, signal: wait.signal });
      const stats = (await body.json()) as TopicStats;
      if (statusCode !== 200) return undefined;
      const { msgBacklog } = stats.subscriptions?.[subscription] ?? {};
      return typeof msgBacklog === "number" ? msgBacklog : undefined;
    } finally {
      wait.end();
    }
  }
}

interface TopicStats {
  readonly subscriptions?: Readonly<Record<string, { readonly msgBacklog?: unknown }>>;
}

function withSlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}
