import { describe, expect, it } from "vitest";
import type { RunAnswer, RunRequest, RunResult } from "./messages.ts";
import { Runner, RUN_MAX_MS } from "./runner.ts";

class Scene {
  readonly workers: {
    requests: RunRequest[];
    isEnded: boolean;
    answer: (answer: RunAnswer) => void;
    die: (message: string) => void;
  }[] = [];
  readonly heard: string[] = [];
  #timers: { atMs: number; run: () => void }[] = [];
  #nowMs = 0;
  readonly runner = new Runner({
    createWorker: (answer, die) => {
      const worker = { requests: [] as RunRequest[], isEnded: false, answer, die };
      this.workers.push(worker);
      return {
        post: (request) => void worker.requests.push(request),
        terminate: () => {
          worker.isEnded = true;
        },
      };
    },
    later: (ms, run) => {
      const timer = { atMs: this.#nowMs + ms, run };
      this.#timers.push(timer);
      return () => {
        this.#timers = this.#timers.filter((each) => each !== timer);
      };
    },
    onResult: (result, text) => this.heard.push(`result ${result.tookMs} of ${text}`),
    onProblem: ({ message }) => this.heard.push(message),
    onFailed: (message) => this.heard.push(`failed: ${message}`),
  });

  pass(ms: number): void {
    this.#nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { run } of due) run();
  }

  /** Answers the latest request of the latest worker. */
  answer(tookMs: number): void {
    const worker = this.workers.at(-1);
    const id = worker?.requests.at(-1)?.id ?? 0;
    const result: RunResult = {
      chart: { title: "", x: { label: "" }, y: { label: "" }, series: [] },
      outcome: { rows: [], stats: {} },
      missed: [],
      tookMs,
    };
    worker?.answer({ id, result });
  }

  get sent(): string[] {
    return this.workers.flatMap(({ requests }) => requests.map(({ text }) => text));
  }
}

describe("the runner of a side", () => {
  it("runs the newest of what was asked meanwhile, nothing between, and tells of which scenario a result is", () => {
    const scene = new Scene();
    scene.runner.run("1");
    scene.runner.run("2");
    scene.runner.run("3");
    scene.answer(10);
    expect(scene.sent).toEqual(["1", "3"]);
    scene.answer(20);
    expect(scene.heard).toEqual(["result 10 of 1", "result 20 of 3"]);
    expect(scene.workers.length).toBe(1);
  });

  it("ends a worker whose run is outdated for a quarter of a second", () => {
    const scene = new Scene();
    scene.runner.run("slow");
    scene.runner.run("next");
    scene.pass(250);
    expect(scene.workers.map(({ isEnded }) => isEnded)).toEqual([true, false]);
    expect(scene.sent).toEqual(["slow", "next"]);
  });

  it("gives up a run that takes too long, says so, and can run again", () => {
    const scene = new Scene();
    scene.runner.run("endless");
    scene.pass(RUN_MAX_MS);
    expect(scene.heard[0]).toMatch(/longer than 5 s/);
    expect(scene.workers[0]?.isEnded).toBe(true);
    scene.runner.run("short");
    scene.answer(1);
    expect(scene.heard[1]).toBe("result 1 of short");
  });

  it("hears nothing more of a worker that was replaced", () => {
    const scene = new Scene();
    scene.runner.run("slow");
    const [old] = scene.workers;
    scene.pass(RUN_MAX_MS);
    old?.answer({ id: 1, problem: { message: "late" } });
    expect(scene.heard).not.toContain("late");
  });

  it("tries three workers that die, then says that the simulator failed, until it is asked again", () => {
    const scene = new Scene();
    scene.runner.run("1");
    for (let i = 0; i < 3; i++) scene.workers.at(-1)?.die("not found");
    expect(scene.heard).toEqual(["failed: not found"]);
    expect(scene.workers.length).toBe(3);
    scene.runner.retry("1");
    scene.answer(2);
    expect(scene.heard.at(-1)).toBe("result 2 of 1");
  });
});
