import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemTimer } from "@sluice/core/system";
import { SluiceProcess } from "./sluice-process.ts";

/** Messages a second of all replicas together. */
export const LIMIT = 400;
const REPLICAS = 4;
/** Killed members count until their lease is stale, so the pool has up to six for a time. */
const MEMBERS_MAX = 8;
/** A killed replica keeps its quarter for 1.3 leases; with the default of 5 s a kill every 10 s leaves 0.84 at best. */
export const LEASE = process.env["BENCH_LEASE"] ?? "3s";

/**
 * Where the limit is written. `pipeline` is how the README does it: every vertex inherits it and takes tokens of its own. `in` alone lets
 * through at once what came late behind it; `out` takes its tokens right before the request.
 */
export const LIMIT_AT = limitAtOf(process.env["BENCH_LIMIT_AT"] ?? "pipeline");

const LIMITS = `limits: { rateLimit: { max: ${LIMIT}, min: ${LIMIT} } }`;

/** Where the replicas read and write. */
export interface Ends {
  readonly redisUrl: string;
  readonly brokerUrl: string;
  readonly topic: string;
  readonly subscription: string;
  readonly serviceUrl: string;
}

/** The map says which process sent a message, and when it was read. */
const MAP = `const replica = process.env.REPLICA;
export default ({ value: { id } }) => ({ value: { id, replica, mappedAtMs: Date.now() } });
`;

/** Four processes of one flow file. A process that is killed or stopped is replaced at once. */
export class ReplicaSet {
  /** By the process's name: when it was killed, by the wall clock. */
  readonly killedAtMs = new Map<string, number>();
  /** Exit codes of the processes that were stopped with SIGTERM. */
  readonly exitCodes: (number | null)[] = [];
  readonly #file: string;
  readonly #all: { readonly name: string; readonly process: SluiceProcess }[] = [];
  #started = 0;
  readonly #errors: string[] = [];

  private constructor(file: string) {
    this.#file = file;
  }

  static async start(folder: string, ends: Ends): Promise<ReplicaSet> {
    const file = join(folder, "flow.yaml");
    await writeFile(join(folder, "stamp.mjs"), MAP);
    await writeFile(file, flowOf(ends));
    const set = new ReplicaSet(file);
    for (let index = 0; index < REPLICAS; index++) set.#all.push(set.#startOne());
    await Promise.all(set.#all.map(({ process }) => process.ready()));
    return set;
  }

  /** Lines of error of all processes so far. */
  get errors(): readonly string[] {
    return [...this.#errors, ...this.#all.flatMap(({ process }) => process.errors)];
  }

  /** `kill -9` of one replica after the other, one every `everyMs`, for `forMs`. */
  async killInTurns(forMs: number, everyMs: number): Promise<void> {
    for (let turn = 0; turn < Math.floor(forMs / everyMs); turn++) {
      const { name, process } = this.#replace(turn % REPLICAS);
      const killed = process.kill();
      this.killedAtMs.set(name, Date.now());
      await killed;
      this.#errors.push(...process.errors);
      await systemTimer.sleep(everyMs);
    }
  }

  /** SIGTERM to one replica after the other; the next one when the new process is ready, and `pauseMs` later. */
  async redeploy(pauseMs: number): Promise<void> {
    for (let index = 0; index < REPLICAS; index++) {
      const { process } = this.#replace(index);
      this.exitCodes.push(await process.stop());
      this.#errors.push(...process.errors);
      await this.#all[index]?.process.ready();
      await systemTimer.sleep(pauseMs);
    }
  }

  async stop(): Promise<void> {
    this.exitCodes.push(...(await Promise.all(this.#all.map(({ process }) => process.stop()))));
  }

  /** Ends what still runs. */
  async kill(): Promise<void> {
    await Promise.all(this.#all.map(({ process }) => process.kill()));
  }

  /** Starts a successor, and answers the process that it replaces. */
  #replace(index: number): { readonly name: string; readonly process: SluiceProcess } {
    const before = this.#all[index];
    if (before === undefined) throw new RangeError(`there is no replica ${index}`);
    this.#all[index] = this.#startOne();
    return before;
  }

  #startOne(): { readonly name: string; readonly process: SluiceProcess } {
    const name = `replica-${this.#started++}`;
    return { name, process: SluiceProcess.start(["run", this.#file], { REPLICA: name }) };
  }
}

function flowOf({ redisUrl, brokerUrl, topic, subscription, serviceUrl }: Ends): string {
  return `name: bench
store: { redis: { url: "${redisUrl}" } }
pipelines:
  replicas:
    fleet: { maxMembers: ${MEMBERS_MAX}, lease: ${LEASE} }
    ${limitsAt("pipeline")}
    vertices:
      - name: in
        source: { pulsar: { url: "${brokerUrl}", topic: "${topic}", subscription: ${subscription}, format: json } }
        ${limitsAt("in")}
      - { name: stamp, map: { module: ./stamp.mjs } }
      - name: out
        sink: { http: { url: "${serviceUrl}" } }
        ${limitsAt("out")}
`;
}

function limitsAt(place: typeof LIMIT_AT): string {
  return place === LIMIT_AT ? LIMITS : "";
}

function limitAtOf(text: string): "pipeline" | "in" | "out" {
  if (text === "pipeline" || text === "in" || text === "out") return text;
  throw new RangeError(`BENCH_LIMIT_AT is ${text}; use pipeline, in or out`);
}
