import type { Client } from "./client.ts";

interface Member {
  readonly client: Client;
  readonly index: number;
  /** As the sums have them. */
  limit: number;
  inFlight: number;
  hasChanged: boolean;
}

/** The clients of a run. What it does at an instant grows with those that changed, not with all. */
export class Crowd {
  readonly #members: Member[] = [];
  #changed: Member[] = [];
  #limit = 0;
  #inFlight = 0;

  /** Of all clients, when `start` was last called. */
  get limit(): number {
    return this.#limit;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get clients(): Client[] {
    return this.#members.map(({ client }) => client);
  }

  add(client: Client): void {
    const { limit, inFlight } = client.limiter;
    const index = this.#members.length;
    this.#members.push({ client, index, limit, inFlight, hasChanged: false });
    this.#limit += limit;
    this.#inFlight += inFlight;
  }

  /** The client of this index, in the order in which they came, may be able to start more. */
  onChange(index: number): void {
    const member = this.#members[index];
    if (member === undefined || member.hasChanged) return;
    member.hasChanged = true;
    this.#changed.push(member);
  }

  /** Lets those start that have changed, in the order in which they came. */
  start(): void {
    const changed = this.#changed;
    this.#changed = [];
    if (changed.length > 1) changed.sort((a, b) => a.index - b.index);
    for (const member of changed) {
      const { client } = member;
      member.hasChanged = false;
      client.start();
      const { limit, inFlight } = client.limiter;
      this.#limit += limit - member.limit;
      this.#inFlight += inFlight - member.inFlight;
      member.limit = limit;
      member.inFlight = inFlight;
    }
  }
}
