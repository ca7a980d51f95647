import { embeddedOf } from "@sluice/gateway/admin";
import type { AdministrableGateway } from "@sluice/gateway/admin";

/** Looks between two samples: a backlog moves slowly, and asking takes a turn of the event loop for each topic. */
const EVERY = 2;

/** Entries that the slowest subscription of a topic has not acknowledged. Of a cluster they are not known here. */
export class Backlogs {
  readonly #gateway: AdministrableGateway;
  #entries = new Map<string, number>();
  #isLooking = false;
  #samples = 0;

  constructor(gateway: AdministrableGateway) {
    this.#gateway = gateway;
  }

  /** Of a full name; undefined if it is not known. */
  of(topic: string): number | undefined {
    return this.#entries.get(topic);
  }

  /** Asks for these topics, for the next sample. Never rejects; one question at a time. */
  look(topics: readonly string[]): void {
    if (this.#isLooking || this.#samples++ % EVERY !== 0) return;
    this.#isLooking = true;
    void this.#ask(topics)
      .catch(() => undefined)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #ask(topics: readonly string[]): Promise<void> {
    const broker = embeddedOf(this.#gateway)?.broker;
    const entries = new Map<string, number>();
    for (const topic of topics) {
      if (broker === undefined || !broker.hasTopic(topic)) continue;
      const { subscriptions } = await broker.statsOf(topic);
      if (subscriptions.length > 0)
        entries.set(topic, Math.max(...subscriptions.map(({ backlogEntries }) => backlogEntries)));
    }
    this.#entries = entries;
  }
}
