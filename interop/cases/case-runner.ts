import { afterAll, beforeAll, test } from "vitest";
import { obstacleTo } from "./case.ts";
import type { Case } from "./case.ts";
import type { Driver } from "../drivers/driver.ts";
import type { Partitions, TargetBroker } from "../servers/our-broker.ts";

export interface BrokerUnderTest {
  /** Why it is not here, if it is not. */
  readonly missing: string | undefined;
  start(partitions: Partitions): Promise<TargetBroker>;
}

/** Counts over all files of a run: they may share a broker. */
let topics = 0;

/** Puts cases to clients with one broker, several cases at a time. */
export class CaseRunner {
  readonly #under: BrokerUnderTest;
  readonly #partitions: Record<string, number> = {};
  #broker: TargetBroker | undefined;

  constructor(under: BrokerUnderTest) {
    this.#under = under;
    beforeAll(async () => {
      if (under.missing === undefined) this.#broker = await under.start(this.#partitions);
    });
    afterAll(async () => {
      await this.#broker?.close();
    });
  }

  /** One test, which is skipped with its reason if these clients cannot. */
  put(one: Case, producer: Driver, consumer: Driver): void {
    const obstacle = this.#under.missing ?? obstacleTo(one, [producer, consumer]);
    if (obstacle !== undefined) {
      test.skip(`${one.name} (${obstacle})`);
      return;
    }
    const topic = `persistent://public/default/interop-${topics++}`;
    if (one.partitions !== undefined) this.#partitions[topic] = one.partitions;
    test.concurrent(one.name, async () => {
      if (this.#broker === undefined) throw new Error("the broker did not start");
      await one.run({ serviceUrl: this.#broker.serviceUrl, producer, consumer, topic });
    });
  }
}
