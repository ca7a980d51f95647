import type { Client } from "./client.ts";

interface Member {
  readonly client: Client;
  readonly index: number;
  /** The values that are part of the group's sums. */
  limit: number;
  inFlight: number;
  hasChanged: boolean;
}

/**
 * The clients of a run, with running sums: the work per instant grows with the clients that
 * changed, not with all.
 */
export class ClientGroup {
  readonly #members: Member[] = [];
  #changed: Member[] = [];
  #limit = 0;
  #inFlight = 0;

  /** Sum over all clients when `start` was last called. */
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

  /** The client with this index may be able to start more requests. */
  onChange(index: number): void {
    const member = this.#members[index];
    if (member === undefined || member.hasChanged) return;
    member.hasChanged = true;
    this.#changed.push(member);
  }

  /** Starts requests of the clients that changed, in the order in which clients were added. */
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
