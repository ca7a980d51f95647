import type { Timer } from "@sluice/core";
import type { SinkConnector } from "@sluice/pipeline";

export interface Service {
  /** Requests in flight at once, and how long each takes, ms. */
  readonly width: number;
  readonly requestMs: number;
}

/** A service that notes when messages arrive, and sinks that send to it. */
export class Arrivals {
  readonly #atMs: number[] = [];
  #hangsUntilMs = 0;

  /** Answers nothing until then. */
  hangUntil(atMs: number): void {
    this.#hangsUntilMs = atMs;
  }

  /** A sink that sends one request for each message. `tellsSent`: it tells each that it sends, as the HTTP sink does. */
  sink(
    timer: Timer,
    { width, requestMs }: Service,
    { tellsSent }: { readonly tellsSent: boolean },
  ): SinkConnector {
    return {
      kind: "requests",
      open: () =>
        Promise.resolve({
          tellsSent,
          write: async (messages, { onSent }) => {
            let next = 0;
            const send = async (): Promise<void> => {
              while (next++ < messages.length) {
                if (tellsSent) onSent?.(1);
                this.#atMs.push(timer.now());
                await timer.sleep(Math.max(requestMs, this.#hangsUntilMs - timer.now()));
              }
            };
            await Promise.all(Array.from({ length: width }, send));
          },
          close: () => Promise.resolve(),
        }),
    };
  }

  perSecond(fromMs: number, untilMs: number): number {
    const within = this.#atMs.filter((atMs) => atMs >= fromMs && atMs < untilMs).length;
    return (within * 1000) / (untilMs - fromMs);
  }

  /** The most arrivals of any sliding second. */
  get most(): number {
    let first = 0;
    let most = 0;
    for (const [index, atMs] of this.#atMs.entries()) {
      while ((this.#atMs[first] as number) <= atMs - 1000) first++;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }
}
