import { InvariantError, SeededRandom } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import type { Producer } from "@sluice/pulsar";
import { VirtualTime } from "../simulation/engine/virtual-time.ts";
import { Application } from "./application.ts";
import { FlowClient } from "./flow-client.ts";
import { FlowGateway } from "./flow-gateway.ts";
import type { FlowAction, FlowPlan } from "./flow-plan.ts";
import { ConnectionFigures } from "./measure/connection-figures.ts";
import { ProducerFigures } from "./measure/producer-figures.ts";
import { TopicMeter } from "./measure/topic-meter.ts";
import { SimulatedNetwork } from "./network/simulated-network.ts";
import type { ProducerPlan } from "./producer-plan.ts";

/** What was measured. Maps have the order of the plan. */
export interface FlowResult {
  /** By full name. */
  readonly topics: ReadonlyMap<string, TopicMeter>;
  /** By id. */
  readonly producers: ReadonlyMap<string, ProducerFigures>;
  /** By name. */
  readonly connections: ReadonlyMap<string, ConnectionFigures>;
  readonly memoryBytesMax: number;
}

/** Clients that have not connected by then never will. */
const CONNECT_MS_MAX = 600_000;

/** Each application draws from numbers of its own: what another one does changes nothing in its pace. */
const SEEDS = 2 ** 31;

/** A client, and its producers once they are open. */
interface Opened {
  readonly client: FlowClient;
  readonly plans: readonly ProducerPlan[];
  readonly producers: readonly Producer[];
}

/** Runs producers against the limits of a gateway: the real code of both, in virtual time. */
export async function runFlow(plan: FlowPlan): Promise<FlowResult> {
  const run = new FlowRun(plan);
  await run.connect();
  return run.play();
}

class FlowRun {
  readonly #plan: FlowPlan;
  readonly #time = new VirtualTime();
  readonly #random: SeededRandom;
  readonly #topics = new Map<string, TopicMeter>();
  readonly #producers = new Map<string, ProducerFigures>();
  readonly #connections = new Map<string, ConnectionFigures>();
  readonly #applications = new Map<string, Application>();
  /** Producers that see no throttle commands although their connection announced to know them. */
  readonly #deaf = new Set<string>();
  #gateway: FlowGateway | undefined;
  #opened: readonly Opened[] = [];
  #startMs = 0;
  #memoryBytesMax = 0;

  constructor(plan: FlowPlan) {
    this.#plan = plan;
    this.#random = new SeededRandom(plan.seed);
    const { producers, durationS } = plan;
    for (const { id, topic, connection, isAware } of producers) {
      if (!isAware) this.#deaf.add(id);
      this.#producers.set(id, new ProducerFigures(durationS));
      if (!this.#topics.has(topic)) this.#topics.set(topic, new TopicMeter(durationS));
      if (!this.#connections.has(connection))
        this.#connections.set(connection, new ConnectionFigures(durationS));
    }
  }

  /** Opens all producers before the run begins, so that it begins with the first message. */
  async connect(): Promise<void> {
    const { limits, storeLatencyMs, rttMs } = this.#plan;
    const time = this.#time;
    const gateway = new FlowGateway({
      time,
      random: this.#random,
      limits,
      storeLatencyMs,
      onAccepted: (topic, messages) =>
        this.#topics.get(topic)?.add(messages, time.now() - this.#startMs),
    });
    this.#gateway = gateway;
    const network = new SimulatedNetwork({ time, rttMs, accept: gateway.accept });
    let isOpen = false;
    const opening = Promise.all(
      [...this.#connections.keys()].map((name) => this.#open(name, network)),
    ).finally(() => (isOpen = true));
    await time.runUntil(CONNECT_MS_MAX, () => isOpen);
    this.#opened = await opening;
  }

  async play(): Promise<FlowResult> {
    const time = this.#time;
    const { events, durationS } = this.#plan;
    const startMs = Math.ceil(time.now() / SECOND_MS + 1) * SECOND_MS;
    const endMs = startMs + durationS * SECOND_MS;
    this.#startMs = startMs;
    for (const [topic, meter] of this.#topics)
      meter.limit.set(0, this.#plan.limits.topics[topic]?.messages);
    for (const { plans, producers } of this.#opened)
      for (const [index, plan] of plans.entries()) this.#start(plan, producers[index]);
    for (const { atMs, action } of events) time.at(startMs + atMs, () => this.#act(action));
    for (let second = 1; second <= durationS; second++)
      time.at(startMs + second * SECOND_MS - 1e-6, () => this.#endSecond(second - 1));
    await time.runUntil(endMs, () => {
      this.#observe();
      return false;
    });
    const producers = this.#producers;
    for (const figures of producers.values()) figures.throttled.stop(endMs);
    const [topics, connections] = [this.#topics, this.#connections];
    return { topics, producers, connections, memoryBytesMax: this.#memoryBytesMax };
  }

  async #open(name: string, network: SimulatedNetwork): Promise<Opened> {
    const client = new FlowClient(name, {
      time: this.#time,
      random: this.#random,
      network,
      tap: {
        onNotice: (id) => this.#figuresOf(id).notices++,
        onReceipt: (id) => this.#figuresOf(id).receipts++,
      },
      isDeaf: (id) => this.#deaf.has(id),
    });
    const plans = this.#plan.producers.filter(({ connection }) => connection === name);
    return { client, plans, producers: await client.open(plans) };
  }

  #start(plan: ProducerPlan, producer: Producer | undefined): void {
    if (producer === undefined) throw new InvariantError(`${plan.id} is not open`);
    const figures = this.#figuresOf(plan.id);
    const random = new SeededRandom(Math.floor(this.#random.next() * SEEDS));
    const world = { time: this.#time, random, startMs: this.#startMs, figures };
    this.#applications.set(plan.id, new Application(plan, producer, world));
  }

  #act(action: FlowAction): void {
    if (action.do === "ignore") this.#deaf.add(action.producer);
    else if (action.do === "leave") this.#leave(action.producer);
    else {
      this.#gateway?.change(action.limits);
      const atMs = this.#time.now() - this.#startMs;
      for (const [topic, limit] of Object.entries(action.limits.topics))
        this.#topics.get(topic)?.limit.set(atMs, limit === "none" ? undefined : limit.messages);
    }
  }

  #leave(id: string): void {
    const application = this.#applications.get(id);
    const opened = this.#opened.find(({ plans }) => plans.some((plan) => plan.id === id));
    if (application === undefined || opened === undefined || application.hasLeft) return;
    const isLast = opened.plans.every(
      (plan) => plan.id === id || (this.#applications.get(plan.id)?.hasLeft ?? true),
    );
    if (!isLast) {
      application.leave();
      return;
    }
    for (const plan of opened.plans) this.#applications.get(plan.id)?.kill();
    opened.client.kill();
  }

  /** Called after every event: pauses and held bytes change only at events, so a reading holds until the next one. */
  #observe(): void {
    const nowMs = this.#time.now();
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    this.#memoryBytesMax = Math.max(this.#memoryBytesMax, gateway.memoryBytes);
    const connections = gateway.connections();
    const waiting = gateway.waiting();
    for (const { client, plans } of this.#opened) {
      const { heldBytes = 0, reasons = [] } = connections.get(client.address) ?? {};
      this.#connections.get(client.name)?.onHeld(heldBytes);
      for (const { id } of plans) {
        const application = this.#applications.get(id);
        const reason = application?.throttledFor ?? waiting.get(id) ?? reasons[0];
        application?.figures.throttled.set(reason, nowMs);
      }
    }
  }

  #endSecond(second: number): void {
    for (const { client } of this.#opened)
      this.#connections.get(client.name)?.onSecond(second, client.pausedMs);
  }

  #figuresOf(id: string): ProducerFigures {
    const figures = this.#producers.get(id);
    if (figures === undefined) throw new InvariantError(`there is no producer ${id}`);
    return figures;
  }
}
