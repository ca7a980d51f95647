import { systemClock } from "@sluice/core/system";

export type Ending = "served" | "busy" | "failed";

export interface Attempt {
  readonly ending: Ending;
  readonly sentAtMs: number;
  readonly endedAtMs: number;
}

/** Far more than a run makes. */
const ATTEMPTS_MAX = 200_000;

/** The `fetch` that all clients send by: it remembers how every attempt ended. */
export class Recorder {
  readonly attempts: Attempt[] = [];
  /** By the clock of the service. */
  #toldMs = 0;

  async send(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<Response> {
    const sentAtMs = systemClock.now();
    try {
      const response = await fetch(input, { ...init, headers: { "x-told": String(this.#toldMs) } });
      this.#add(response.ok ? "served" : "busy", sentAtMs);
      return response;
    } catch (error) {
      this.#add("failed", sentAtMs);
      throw error;
    }
  }

  /** The client has read the answer: from here on it knows when to come back. */
  note(response: Response): void {
    this.#toldMs = Math.max(this.#toldMs, Number(response.headers.get("x-come-back-at") ?? 0));
  }

  #add(ending: Ending, sentAtMs: number): void {
    if (this.attempts.length >= ATTEMPTS_MAX) throw new Error("a client sends without end");
    this.attempts.push({ ending, sentAtMs, endedAtMs: systemClock.now() });
  }
}
