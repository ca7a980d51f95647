import type { Timer } from "@sluice/core";
import { withDeadline } from "../wait/with-deadline.ts";
import type { Authentication } from "./authentication.ts";
import { credentialsOf } from "./credentials.ts";

export interface CredentialsRefreshOptions {
  readonly timeoutMs: number;
  /** `host:port` of the broker, for errors. */
  readonly address: string;
}

/** Fetches the answer to AUTH_CHALLENGE, one at a time: a challenge that comes meanwhile gets the same answer. */
export class CredentialsRefresh {
  readonly #timer: Timer;
  readonly #authentication: Authentication;
  readonly #options: CredentialsRefreshOptions;
  #isRunning = false;

  constructor(timer: Timer, authentication: Authentication, options: CredentialsRefreshOptions) {
    this.#timer = timer;
    this.#authentication = authentication;
    this.#options = options;
  }

  /** Undefined if a refresh is running already. */
  async run(challenge: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (this.#isRunning) return undefined;
    this.#isRunning = true;
    const { timeoutMs: ms, address } = this.#options;
    const what = `refreshing the credentials for ${address}`;
    try {
      return await withDeadline(this.#timer, { ms, signal, what }, (limit) =>
        credentialsOf(this.#authentication, limit, challenge),
      );
    } finally {
      this.#isRunning = false;
    }
  }
}
