import type { Reason } from "@sluice/core";
import type {
  ConnectionIngress,
  IngressClient,
} from "../src/ingress/connection/connection-ingress.ts";
import { Ingress } from "../src/ingress/ingress.ts";
import type { ThrottleNotice } from "../src/ingress/notices/aware-connection.ts";
import type { IngressSettings } from "../src/ingress/settings.ts";
import { CountedByteBudget } from "../src/memory/counted-byte-budget.ts";

/** A frame of one producer. */
export interface SceneItem {
  readonly producer: SceneProducer;
  readonly index: number;
  readonly messages: number;
  readonly bytes: number;
  readonly sentAtMs: number;
}

export interface Went extends SceneItem {
  readonly atMs: number;
}

/** An ingress in virtual time with clients that publish through it, and all that went. */
export class IngressScene {
  nowMs = 0;
  readonly memory: CountedByteBudget;
  readonly ingress: Ingress<SceneItem>;
  readonly went: Went[] = [];
  /** Steps that `release` was given; for tests of how much work is done. */
  turns = 0;

  constructor(settings: IngressSettings, memoryBytes = 1024 * 1024 * 1024) {
    this.memory = new CountedByteBudget(memoryBytes, () => {});
    this.ingress = new Ingress<SceneItem>(settings, {
      memory: this.memory,
      keep: (item) => ({ item, bytes: item.bytes }),
      onWakeAt: () => {},
      nowMs: 0,
    });
  }

  client(isAware = false): SceneClient {
    return new SceneClient(this, isAware);
  }

  /** Lets time pass, and releases what is due. */
  run(untilMs: number): void {
    for (;;) {
      const { wakeAtMs } = this.ingress;
      if (wakeAtMs > untilMs) break;
      this.nowMs = Math.max(this.nowMs, wakeAtMs);
      this.settle();
    }
    this.nowMs = untilMs;
  }

  settle(): void {
    do this.turns++;
    while (this.ingress.release(this.nowMs, 64));
  }
}

export class SceneClient implements IngressClient<SceneItem> {
  readonly address: string;
  readonly scene: IngressScene;
  readonly connection: ConnectionIngress<SceneItem>;
  readonly throttled: Reason[] = [];
  readonly notices: ThrottleNotice[] = [];
  closed: string | undefined;
  /** Whether what went is stored at once. */
  storesAtOnce = true;
  #lastKey = 0;

  constructor(scene: IngressScene, isAware: boolean) {
    this.scene = scene;
    this.address = `client-${isAware ? "aware" : "plain"}`;
    this.connection = scene.ingress.connect(this);
    if (isAware) this.connection.setAware();
  }

  open(topic: string): SceneProducer {
    return new SceneProducer(this, topic, ++this.#lastKey);
  }

  publish(item: SceneItem, nowMs: number): void {
    this.scene.went.push({ ...item, atMs: nowMs });
    if (this.storesAtOnce) this.connection.settled(nowMs);
  }

  throttle(reason: Reason): void {
    this.throttled.push(reason);
  }

  unthrottle(reason: Reason): void {
    this.throttled.splice(this.throttled.indexOf(reason), 1);
  }

  notify(notice: ThrottleNotice): void {
    this.notices.push(notice);
  }

  disconnect(reason: string): void {
    this.closed = reason;
  }
}

export class SceneProducer {
  readonly client: SceneClient;
  readonly topic: string;
  readonly key: number;
  sent = 0;

  constructor(client: SceneClient, topic: string, key: number) {
    this.client = client;
    this.topic = topic;
    this.key = key;
    client.connection.open(key, { topic, name: `p${key}`, producerId: BigInt(key) });
  }

  get went(): readonly Went[] {
    return this.client.scene.went.filter(({ producer }) => producer === this);
  }

  /** True if it went at once. */
  send(messages = 1, bytes = 100): boolean {
    const { nowMs } = this.client.scene;
    const item = { producer: this, index: this.sent++, messages, bytes, sentAtMs: nowMs };
    const isAdmitted = this.client.connection.offer(this.key, item, { messages, bytes }, nowMs);
    if (isAdmitted) this.client.publish(item, nowMs);
    return isAdmitted;
  }

  close(): void {
    this.client.connection.close(this.key, this.client.scene.nowMs);
  }
}
