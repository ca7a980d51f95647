import { ConfigError } from "@sluice/core";
import type { OpenContext } from "../../connector/open-context.ts";
import type { Message } from "../../message.ts";
import { MapError } from "../map-error.ts";
import { MapJob } from "../map-job.ts";
import type { MapTask } from "../map-job.ts";
import type { Mapped, Mapper, MapperWaiting } from "../mapper.ts";
import { RestartBackoff } from "../restart-backoff.ts";
import { Child } from "./child.ts";
import { LineNotice } from "./line-notice.ts";
import type { MapCommandSettings } from "./map-command.ts";
import { lineOf, parseAnswer } from "./protocol.ts";
import { trialMs } from "./trial.ts";

interface InFlight {
  readonly task: MapTask;
  readonly sentMs: number;
  /** Answers of this mapper before the message was sent. */
  readonly answersBefore: number;
}

/**
 * What is known of a child. `trusted`: children before it have answered, or it is the first. `trial`: the one before it
 * ended without an answer, so it gets no messages for a while. `proven`: it ran through its trial.
 */
type Standing = "trusted" | "trial" | "proven";

/**
 * Keeps one child running, and messages in flight to it.
 *
 * A child that ends or hangs is replaced. The messages that it had are then tried one at a time: the message that
 * a child ends or hangs on alone is the one that fails, retriably, and the others lose nothing but time.
 *
 * A program that cannot be started, or ends by itself without any message, is not the fault of a message: messages
 * wait until it runs.
 */
export class CommandMapper implements Mapper {
  readonly #settings: MapCommandSettings;
  readonly #context: OpenContext;
  readonly #notice: LineNotice;
  readonly #backoff: RestartBackoff;
  readonly #waiting: MapTask[] = [];
  /** Messages that a child had when it ended. */
  readonly #suspects: MapTask[] = [];
  readonly #inFlight = new Map<string, InFlight>();
  readonly #closed = new AbortController();
  #child: Child | undefined;
  #sequence = 0;
  #answers = 0;
  /** When the child last answered, or got a message while it had none. */
  #progressMs = 0;
  /** The child has not answered yet: it may still be starting. */
  #isFresh = true;
  #isWatching = false;
  #isAlone = false;
  #startedMs = 0;
  #standing: Standing = "trusted";
  /** Set from the end of a child without an answer until the program is known to run. */
  #down: MapperWaiting | undefined;

  private constructor(settings: MapCommandSettings, context: OpenContext) {
    this.#settings = settings;
    this.#context = context;
    this.#notice = new LineNotice(context.timer, context.tell, settings.secrets);
    this.#backoff = new RestartBackoff(settings.restartMaxMs);
  }

  static async open(settings: MapCommandSettings, context: OpenContext): Promise<CommandMapper> {
    const mapper = new CommandMapper(settings, context);
    const child = mapper.#start();
    try {
      await child.started(context.signal);
    } catch (error) {
      await mapper.close();
      context.signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      throw new ConfigError(
        `command ${JSON.stringify(settings.command)} cannot be started: ${why}`,
        undefined,
        { cause: error },
      );
    }
    return mapper;
  }

  map(
    messages: readonly Message[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<readonly Mapped[]> {
    const { tasks, done } = new MapJob(messages, signal);
    this.#waiting.push(...tasks);
    if (this.#closed.signal.aborted) this.#failAll();
    this.#pump();
    return done;
  }

  why(): MapperWaiting | undefined {
    return this.#down;
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#failAll();
    await this.#child?.close(this.#context.timer);
  }

  #failAll(): void {
    const flying = [...this.#inFlight.values()].map(({ task }) => task);
    this.#inFlight.clear();
    for (const task of [...flying, ...this.#suspects.splice(0), ...this.#waiting.splice(0)])
      task.settle({ error: new MapError("the map was closed"), isRetriable: true });
  }

  #start(): Child {
    const { command, args, cwd, env, lineBytesMax } = this.#settings;
    const child: Child = new Child({
      command,
      args,
      cwd,
      env,
      lineBytesMax,
      onLine: (line, isWhole) => this.#onLine(line, isWhole),
      onErrorLine: (line) => this.#notice.add(`${command}: ${line}`),
      onTooLong: () => this.#end(child, `wrote a line of more than ${lineBytesMax} bytes`),
      onRoom: () => this.#pump(),
      onEnded: (how) => this.#onEnded(child, how),
    });
    this.#child = child;
    this.#isFresh = true;
    this.#startedMs = this.#context.timer.now();
    return child;
  }

  /** Sends what may be sent. */
  #pump(): void {
    const child = this.#child;
    if (child === undefined || this.#standing === "trial") return;
    while (child.hasRoom) {
      const task = this.#next();
      if (task === undefined) return;
      this.#send(child, task);
    }
  }

  #next(): MapTask | undefined {
    if (this.#isAlone && this.#inFlight.size > 0) return undefined;
    const suspect = nextOf(this.#suspects);
    if (suspect !== undefined) {
      if (this.#inFlight.size === 0) {
        this.#isAlone = true;
        return suspect;
      }
      this.#suspects.unshift(suspect);
      return undefined;
    }
    this.#isAlone = false;
    return this.#inFlight.size < this.#settings.inFlightMax ? nextOf(this.#waiting) : undefined;
  }

  #send(child: Child, task: MapTask): void {
    const id = String(++this.#sequence);
    let line: string;
    try {
      line = lineOf(id, task.message);
    } catch (error) {
      const text = `the message's value has no JSON: ${(error as Error).message}`;
      task.settle({ error: new MapError(text, { cause: error }), isRetriable: false });
      return;
    }
    const nowMs = this.#context.timer.now();
    if (this.#inFlight.size === 0) this.#progressMs = nowMs;
    this.#inFlight.set(id, { task, sentMs: nowMs, answersBefore: this.#answers });
    child.write(line);
    if (!this.#isWatching) void this.#watch();
  }

  #onLine(line: string, isWhole: boolean): void {
    const answer = parseAnswer(line, isWhole);
    if (typeof answer === "string") {
      this.#notice.add(`${this.#settings.command}: ${answer}`);
      return;
    }
    const flying = this.#inFlight.get(answer.id);
    if (flying === undefined) {
      const text = `the answer to ${JSON.stringify(answer.id.slice(0, 50))}, which is not in flight, is ignored`;
      this.#notice.add(`${this.#settings.command}: ${text}`);
      return;
    }
    this.#inFlight.delete(answer.id);
    this.#answers++;
    this.#isFresh = false;
    this.#standing = "trusted";
    this.#down = undefined;
    this.#progressMs = this.#context.timer.now();
    this.#backoff.onSuccess();
    flying.task.settle(answer.mapped);
    this.#pump();
  }

  /** @param isKilled It hung, or wrote too much: it did run. */
  #onEnded(child: Child, how: string, isKilled = false): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (this.#closed.signal.aborted) return;
    const { command, startMs } = this.#settings;
    const { timer } = this.#context;
    const nowMs = timer.now();
    const pauseMs = this.#backoff.nextMs();
    const hasRun = isKilled || !this.#isFresh;
    this.#suspect(`${command} ${how}`, hasRun || this.#standing === "proven");
    this.#standing = hasRun ? "trusted" : "trial";
    const lastsMs = hasRun ? 0 : trialMs(nowMs - this.#startedMs, startMs);
    if (!hasRun)
      this.#down = {
        detail: `for ${command}, which ${how} before it answered anything`,
        sinceMs: this.#down?.sinceMs ?? nowMs,
        untilMs: nowMs + pauseMs + lastsMs,
      };
    this.#tellEnded(how, pauseMs);
    timer.sleep(pauseMs, this.#closed.signal).then(
      () => this.#restart(lastsMs),
      () => undefined,
    );
  }

  #tellEnded(how: string, pauseMs: number): void {
    const waiting = this.#suspects.length + this.#waiting.length;
    const wait = waiting === 1 ? "1 message waits, and " : `${waiting} messages wait, and `;
    const when = pauseMs === 0 ? "" : ` in ${pauseMs} ms`;
    const isDown = this.#down !== undefined && waiting > 0;
    const text = `${this.#settings.command} ${how}; ${isDown ? wait : ""}it is started again${when}`;
    this.#context.tell({ level: "warning", text });
  }

  #restart(lastsMs: number): void {
    const child = this.#start();
    if (this.#standing === "trial") void this.#try(child, lastsMs);
    else this.#pump();
  }

  async #try(child: Child, lastsMs: number): Promise<void> {
    try {
      await this.#context.timer.sleep(lastsMs, this.#closed.signal);
    } catch {
      return;
    }
    if (this.#child !== child) return;
    this.#standing = "proven";
    this.#down = undefined;
    this.#pump();
  }

  /** The child is gone, and with it what it had: a message that it had alone fails, if it can have ended the child. */
  #suspect(why: string, canBlame: boolean): void {
    const flying = [...this.#inFlight.values()].map(({ task }) => task);
    this.#inFlight.clear();
    const [only] = flying;
    if (canBlame && flying.length === 1 && only !== undefined)
      only.settle({ error: new MapError(`${why} while it had the message`), isRetriable: true });
    else this.#suspects.push(...flying);
    this.#isAlone = false;
  }

  /** Looks after the child while it has messages. */
  async #watch(): Promise<void> {
    const { timer } = this.#context;
    const { timeoutMs, startMs } = this.#settings;
    this.#isWatching = true;
    try {
      while (this.#inFlight.size > 0) {
        const allowedMs = this.#isFresh ? startMs + timeoutMs : timeoutMs;
        const leftMs = this.#progressMs + allowedMs - timer.now();
        // Not longer than the timeout: the child may cease to be fresh meanwhile.
        if (leftMs > 0) await timer.sleep(Math.min(leftMs, timeoutMs), this.#closed.signal);
        else if (this.#child === undefined) break;
        else this.#end(this.#child, `did not answer within ${allowedMs} ms (timeoutMs)`);
        this.#giveUpLost();
      }
    } catch {
      // Closed: nothing is in flight any more.
    } finally {
      this.#isWatching = false;
    }
  }

  /** Ends a child that does not do its work. */
  #end(child: Child, how: string): void {
    child.kill();
    this.#onEnded(child, how, true);
  }

  /**
   * A message that is older than the timeout and was overtaken by as many answers as can be in flight was
   * lost by the child: one that works in order would have answered it.
   */
  #giveUpLost(): void {
    const { timeoutMs, inFlightMax, command } = this.#settings;
    const nowMs = this.#context.timer.now();
    for (const [id, { task, sentMs, answersBefore }] of this.#inFlight) {
      if (nowMs - sentMs < timeoutMs || this.#answers - answersBefore < inFlightMax) continue;
      this.#inFlight.delete(id);
      const text = `${command} answered later messages, but not this one, for ${timeoutMs} ms`;
      task.settle({ error: new MapError(text), isRetriable: true });
    }
    this.#pump();
  }
}

/** The next task whose caller still waits. */
function nextOf(tasks: MapTask[]): MapTask | undefined {
  for (;;) {
    const task = tasks.shift();
    if (task === undefined || !task.isOver) return task;
  }
}
