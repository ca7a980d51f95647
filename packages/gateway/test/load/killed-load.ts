import { systemTimer } from "@sluice/core/system";
import type { MessageId, Producer } from "@sluice/pulsar";
import { expect } from "vitest";

/** Messages on their way at a time. */
const WINDOW = 100;

/** Sends numbered messages without a pause, and remembers under which id each was acknowledged. */
export class KilledLoad {
  readonly topic: string;
  /** Indexes with their ids, in the order of the acknowledgements. */
  readonly acknowledged = new Map<number, MessageId>();
  readonly #producer: Producer;
  readonly #number: number;
  readonly #running: Promise<unknown>;
  #sent = 0;
  #acknowledgements = 0;
  #isStopping = false;

  constructor(producer: Producer, number: number) {
    this.#producer = producer;
    this.#number = number;
    this.topic = producer.topic.replace("persistent://", "");
    this.#running = Promise.all(Array.from({ length: WINDOW }, () => this.#run()));
    // `stop` rejects with it. A test that has failed before does not stop its load, and would end the repetition too.
    this.#running.catch(() => undefined);
  }

  /** The id that was acknowledged last, which is behind all others. */
  get lastIds(): readonly string[] {
    const last = [...this.acknowledged.values()].at(-1);
    return last === undefined ? [] : [this.#keyOf(last)];
  }

  /** Resolves after more acknowledgements than there were messages on their way. */
  async acknowledgedMore(): Promise<void> {
    const enough = this.#acknowledgements + WINDOW;
    while (this.#acknowledgements < enough) await systemTimer.sleep(5);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  verify(found: ReadonlyMap<string, Buffer>): void {
    expect(this.acknowledged.size).toBe(this.#sent);
    expect(this.#acknowledgements).toBe(this.#sent);
    // Each acknowledgement names the entry that holds this very message, so that no entry was acknowledged for two.
    const others = [...this.acknowledged].filter(
      ([index, id]) => !found.get(this.#keyOf(id))?.equals(this.#dataOf(index)),
    );
    expect(others).toEqual([]);
    const indexes = [...this.acknowledged.keys()];
    expect(indexes).toEqual(Array.from({ length: this.#sent }, (_, index) => index));
    const ids = [...this.acknowledged.values()];
    expect(ids.filter((id, at) => at > 0 && id.compare(ids[at - 1] ?? id) <= 0)).toEqual([]);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const index = this.#sent++;
      const id = await this.#producer.send({ data: this.#dataOf(index) });
      this.acknowledged.set(index, id);
      this.#acknowledgements++;
    }
  }

  #dataOf(index: number): Buffer {
    const data = Buffer.alloc(256, this.#number);
    data.writeUInt32BE(index, 0);
    return data;
  }

  #keyOf(id: MessageId): string {
    return `${this.topic} ${String(id)}`;
  }
}
