/** The whole way over real sockets and in real time, against a service in a process of its own. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { describe, expect, test } from "vitest";
import { ClosedError, throttledFetch } from "@sluice/egress";
import type { ThrottledFetchOptions } from "@sluice/egress";

const SCRIPT = fileURLToPath(new URL("service-process.mjs", import.meta.url));

interface Settings {
  readonly workers: number;
  readonly serviceMs: number;
  readonly quota?: {
    readonly perSecond: number;
    readonly burst: number;
    readonly retryAfterS?: number;
  };
}

interface Counts {
  readonly requests: number;
  readonly served: number;
  readonly busy: number;
  readonly early: number;
}

type Finally = (end: () => Promise<void> | void) => void;

/** A service that can be killed and started again on its port. What it began is kept for good. */
class Service {
  readonly #settings: Settings;
  readonly #folder = mkdtempSync(join(tmpdir(), "sluice-service-"));
  readonly #journal: number = openSync(join(this.#folder, "journal"), "a");
  #child: ChildProcess | undefined;
  #port = 0;

  private constructor(settings: Settings) {
    this.#settings = settings;
  }

  static async start(settings: Settings, onTestFinished: Finally): Promise<Service> {
    const service = new Service(settings);
    onTestFinished(() => service.#end());
    await service.restart();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** Resolves when it listens. */
  async restart(): Promise<void> {
    const child = fork(SCRIPT, [JSON.stringify({ ...this.#settings, port: this.#port })], {
      execArgv: [],
      stdio: ["ignore", this.#journal, "inherit", "ipc"],
    });
    this.#child = child;
    const gone = once(child, "exit").then(() => Promise.reject(new Error("it did not start")));
    const [{ port }] = (await Promise.race([once(child, "message"), gone])) as [{ port: number }];
    gone.catch(() => undefined);
    this.#port = port;
  }

  async counts(): Promise<Counts> {
    this.#child?.send("counts");
    const [counts] = (await once(this.#child as ChildProcess, "message")) as [Counts];
    return counts;
  }

  /** What workers began, a method and a path each. */
  begun(): string[] {
    return readFileSync(join(this.#folder, "journal"), "utf8").split("\n").slice(0, -1);
  }

  /** Ends it in the middle of its work. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  async #end(): Promise<void> {
    await this.kill();
    closeSync(this.#journal);
    rmSync(this.#folder, { recursive: true });
  }
}

/** Lets a test wait until something that it is told of has happened. */
class Watch {
  readonly #waiting = new Set<() => void>();

  /** Something has happened. */
  look(): void {
    for (const check of this.#waiting) check();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}

function setUpFetch(options: ThrottledFetchOptions, onTestFinished: Finally) {
  const send = throttledFetch({ concurrency: "adaptive", ...options });
  onTestFinished(() => send.gates.close());
  return send;
}

interface Caller {
  /** Makes one call; `call` counts from 0 over all callers. */
  readonly call: (call: number) => Promise<void>;
  readonly isOver: () => boolean;
}

/** So many callers, each with one call after the other. Resolves when all have their last answer. */
async function callOn(callers: number, { call, isOver }: Caller): Promise<void> {
  let calls = 0;
  const callOneByOne = async (): Promise<void> => {
    while (!isOver()) await call(calls++);
  };
  await Promise.all(Array.from({ length: callers }, callOneByOne));
}

/** All at once: they mostly wait, and a machine that is busy with the others is part of the trial. */
describe.concurrent("an adaptive fetch", () => {
  // A busy machine can slow the answers of one client only, and then its limit is low: it has three tries.
  const tries = { retry: 2 };
  test(
    "finds about what the workers can take, and loses no call",
    tries,
    async ({ onTestFinished }) => {
      const adaptive = setUpFetch({}, onTestFinished);
      const clients = [
        { send: fetch, callers: 3 },
        { send: fetch, callers: 6 },
        { send: adaptive, callers: 40 },
      ];
      const watch = new Watch();
      const served = clients.map(() => 0);
      let isOver = false;
      // All at once, so that a busy machine is as busy for each of them.
      const running = clients.map(async ({ send, callers }, i) => {
        const service = await Service.start({ workers: 6, serviceMs: 50 }, onTestFinished);
        await callOn(callers, {
          isOver: () => isOver,
          call: async () => {
            const response = await send(service.url);
            expect(await response.text()).toBe("done");
            served[i] = (served[i] ?? 0) + 1;
            watch.look();
          },
        });
        const { requests, served: done } = await service.counts();
        expect([requests, done]).toEqual([served[i], served[i]]);
      });
      // By answers, not by time: they are what a limit is found by.
      await watch.until(() => served.every((count) => count >= 100));
      const before = [...served];
      const since = (): number[] => served.map((count, i) => count - (before[i] ?? 0));
      await watch.until(() => Math.max(...since()) >= 200);
      const [three = 0, six = 0, ours = 0] = since();
      isOver = true;
      await Promise.all(running);
      expect(ours).toBeGreaterThanOrEqual(Math.max(three, six) / 2);
    },
  );

  test("is told off ever less by a quota that it knows nothing of", async ({ onTestFinished }) => {
    const quota = { perSecond: 200, burst: 20 };
    const service = await Service.start({ workers: 64, serviceMs: 20, quota }, onTestFinished);
    const send = setUpFetch({}, onTestFinished);
    const startMs = systemTimer.now();
    let busyAtFirst = 0;
    const later = { served: 0, busy: 0 };
    await callOn(30, {
      isOver: () => systemTimer.now() >= startMs + 2000,
      call: async () => {
        const response = await send(service.url);
        await response.text();
        if (systemTimer.now() < startMs + 1000) busyAtFirst += response.ok ? 0 : 1;
        else later[response.ok ? "served" : "busy"]++;
      },
    });
    const { busy } = await service.counts();
    expect(busyAtFirst + later.busy).toBe(busy);
    expect(later.served).toBeGreaterThan(0);
    expect(later.busy / (later.busy + later.served)).toBeLessThan(0.2);
  });

  test("comes back no sooner than it is told", async ({ onTestFinished }) => {
    const quota = { perSecond: 100, burst: 10, retryAfterS: 1 };
    const service = await Service.start({ workers: 64, serviceMs: 10, quota }, onTestFinished);
    /** By the clock of the service. */
    let told = 0;
    let busy = 0;
    let servedSince = 0;
    const send = setUpFetch(
      {
        fetch: async (url, init) => {
          const isAfterPause = told > 0;
          const response = await fetch(url, { ...init, headers: { "x-told": String(told) } });
          if (isAfterPause && response.ok) servedSince++;
          return response;
        },
        // Asked when the gate learns of an answer: what is sent from here on should heed it.
        classify: (settled) => {
          if (!("value" in settled)) return undefined;
          const { headers } = settled.value as Response;
          told = Math.max(told, Number(headers.get("x-come-back-at") ?? 0));
          return undefined;
        },
      },
      onTestFinished,
    );
    let isOver = false;
    await callOn(30, {
      isOver: () => isOver,
      call: async () => {
        try {
          const response = await send(service.url);
          await response.text();
          if (!response.ok) busy++;
        } catch (error) {
          expect(error).toBeInstanceOf(ClosedError);
        }
        isOver = busy > 0 && servedSince >= 10;
        // Who waits now would only wait for the next pause to end.
        if (isOver) send.gates.close();
      },
    });
    expect(busy).toBeGreaterThan(0);
    expect(await service.counts()).toMatchObject({ early: 0, busy });
  });

  test("answers every call across a restart, and executes no POST twice", async ({
    onTestFinished,
  }) => {
    const service = await Service.start({ workers: 6, serviceMs: 30 }, onTestFinished);
    const watch = new Watch();
    let phase: "before" | "down" | "after" | "over" = "before";
    let refused = 0;
    let retries = 0;
    const servedIn = { before: 0, down: 0, after: 0, over: 0 };
    const send = setUpFetch(
      {
        retry: { attempts: 5 },
        observers: [(event) => (retries += event.type === "retry" ? 1 : 0)],
        fetch: async (url, init) => {
          try {
            return await fetch(url, init);
          } catch (error) {
            if (String((error as Error).cause).includes("ECONNREFUSED")) refused++;
            watch.look();
            throw error;
          }
        },
      },
      onTestFinished,
    );
    let firstBackAtMs: number | undefined;
    let started = 0;
    let answered = 0;
    const callers = callOn(30, {
      isOver: () => phase === "over",
      call: async (id) => {
        const method = id % 3 === 0 ? "GET" : "POST";
        started++;
        try {
          const response = await send(`${service.url}${id}`, { method });
          await response.text();
          servedIn[phase]++;
          if (phase === "after") firstBackAtMs ??= systemTimer.now();
        } catch (error) {
          // `terminated`: killed between the fields and the body of an answer.
          expect(String(error)).toMatch(/fetch failed|terminated/);
        }
        answered++;
        watch.look();
      },
    });
    await watch.until(() => servedIn.before >= 40);
    await service.kill();
    phase = "down";
    await watch.until(() => refused >= 3);
    await service.restart();
    phase = "after";
    const backAtMs = systemTimer.now();
    await watch.until(() => servedIn.after >= 40);
    phase = "over";
    await callers;
    expect(answered).toBe(started);
    expect((firstBackAtMs ?? 0) - backAtMs).toBeLessThan(3000);
    expect(retries).toBeGreaterThan(0);
    const posts = service.begun().filter((line) => line.startsWith("POST"));
    expect(posts.length).toBeGreaterThan(40);
    expect(new Set(posts).size).toBe(posts.length);
  });
});
