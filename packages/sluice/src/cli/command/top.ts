import { ConfigError } from "@sluice/core";
import { systemTimer, systemWallClock } from "@sluice/core/system";
import { Command } from "commander";
import { TopHistory } from "../../top/frame/history.ts";
import type { Key } from "../../top/terminal/keys.ts";
import { liveEvents } from "../../top/live-events.ts";
import { LiveTerminal } from "../../top/terminal/live-terminal.ts";
import { pageSizeOf, scrollMaxOf, topFrame } from "../../top/frame/top-frame.ts";
import { limitWordsOf, shownRows, topRows, whyNameOf } from "../../top/rows/top-rows.ts";
import { sharedPoolOf } from "../../top/top-snapshot.ts";
import type { TopSnapshot } from "../../top/top-snapshot.ts";
import { onKey, TOP_START } from "../../top/top-state.ts";
import type { TopState, TopView } from "../../top/top-state.ts";
import { waitsOf } from "../../top/rows/top-waits.ts";
import { changedLine } from "../../limits/limit-table.ts";
import { bodyOf, pathOf, splitWords } from "../../limits/limit-words.ts";
import type { LiveHello, LivePoolDetail } from "../../live/live-message.ts";
import type { WholeWhy } from "../../why/why-lines.ts";
import { AdminError, adminClient, withAdminOptions } from "../flow/admin-client.ts";
import type { AdminClient, AdminOptions } from "../flow/admin-client.ts";
import { isColoured } from "../colour.ts";
import { writeLines } from "../output.ts";
import { terminalSize } from "../terminal-size.ts";

interface TopOptions extends AdminOptions {
  readonly once?: true;
}

const EXAMPLES = `
Examples:
  sluice top
  sluice top --once
  sluice top --json --once

Keys: arrows move, enter opens a row with the answer of sluice why, w explains the next wait, l changes a
limit, s sorts, / finds, ? lists the keys, q quits. Without a terminal it prints one frame. --json prints
what /api/live tells, one object for each sample, or one with --once. Exits with 1 if no gateway answers.`;

/** Between a stream that has broken and the next try. */
const AGAIN_MS = 1_000;
/** Samples to wait for the members of a pool. */
const POOL_SAMPLES_MAX = 3;

export function topCommand(): Command {
  const command = new Command("top")
    .summary("show a live view of a running gateway and its pipelines")
    .description(
      "Shows rates, limits, queues and waits of a running gateway and its pipelines, live.",
    )
    .option("--once", "print one frame and exit");
  return withAdminOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (options: TopOptions) => {
      await show(await adminClient(options), options);
    });
}

async function show(client: AdminClient, options: TopOptions): Promise<void> {
  const isLive = options.once !== true && options.json !== true && process.stdout.isTTY;
  if (isLive) return new LiveView(client).run();
  const history = new TopHistory();
  const stop = new AbortController();
  try {
    for await (const snapshot of snapshots(client, history, stop.signal)) {
      await writeLines(
        process.stdout,
        options.json ? [JSON.stringify(snapshot)] : frame(snapshot, history, TOP_START, false),
      );
      if (options.once === true || options.json !== true || process.stdout.destroyed) return;
    }
  } finally {
    stop.abort();
  }
}

/**
 * What `/api/live` tells, with each sample, until the stream ends. The last minute comes with the first one. The members of a
 * pool are asked for once a sample has named it.
 */
async function* snapshots(
  client: AdminClient,
  history: TopHistory,
  signal: AbortSignal,
  asked?: string,
): AsyncGenerator<TopSnapshot, undefined> {
  const query = asked === undefined ? "" : `?pool=${encodeURIComponent(asked)}`;
  const left = new AbortController();
  let hello: LiveHello | undefined;
  let pool: LivePoolDetail | undefined;
  let samples = 0;
  try {
    const bytes = await client.stream(`/api/live${query}`, AbortSignal.any([signal, left.signal]));
    for await (const event of liveEvents(bytes)) {
      if (event.name === "hello") {
        hello = event.hello;
        history.clear();
      } else if (event.name === "past") event.samples.forEach((past) => history.add(topRows(past)));
      else if (event.name === "pool") pool = event.pool;
      else if (hello !== undefined) {
        const { sample } = event;
        const shared = asked === undefined ? sharedPoolOf(sample) : undefined;
        if (shared !== undefined) {
          left.abort();
          return yield* snapshots(client, history, signal, shared);
        }
        history.add(topRows(sample));
        // The members come after the first sample, if this process knows them.
        if (asked !== undefined && pool === undefined && ++samples < POOL_SAMPLES_MAX) continue;
        yield { hello, sample, pool };
      }
    }
    return undefined;
  } finally {
    left.abort();
  }
}

/** Draws after every sample and every key. */
class LiveView {
  readonly #client: AdminClient;
  readonly #terminal = new LiveTerminal();
  readonly #history = new TopHistory();
  #state = TOP_START;
  #last: TopSnapshot | undefined;
  #detail: TopSnapshot["detail"];
  #isAsking = false;

  constructor(client: AdminClient) {
    this.#client = client;
  }

  async run(): Promise<void> {
    const { closed } = this.#terminal;
    // Before the terminal is taken: without a gateway there is nothing to show.
    let stream = snapshots(this.#client, this.#history, closed);
    this.#last = (await stream.next()).value;
    this.#terminal.open({ onKey: (key) => this.#onKey(key), onResize: () => this.#draw() });
    try {
      while (!closed.aborted) {
        await this.#follow(stream).catch((error: unknown) => this.#fail(error));
        await systemTimer.sleep(AGAIN_MS, closed).catch(() => undefined);
        stream = snapshots(this.#client, this.#history, closed);
      }
    } finally {
      this.#terminal.close();
    }
  }

  async #follow(stream: AsyncGenerator<TopSnapshot, undefined>): Promise<void> {
    this.#draw();
    for await (const snapshot of stream) {
      this.#last = snapshot;
      this.#draw();
      void this.#askDetail();
    }
    if (!this.#terminal.closed.aborted)
      this.#tell("the gateway has ended the stream; trying again");
  }

  /** The answer for the open row, one question at a time. */
  async #askDetail(): Promise<void> {
    const { mode } = this.#state;
    const sample = this.#last?.sample;
    if (mode.name !== "detail" || sample === undefined || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const name = whyNameOf(mode.row, sample);
      const query = name === undefined ? "" : `?name=${encodeURIComponent(name)}`;
      const answer = await this.#client.get(`/api/why${query}`, this.#terminal.closed);
      this.#detail = { name, answer: answer as WholeWhy };
      this.#draw();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isAsking = false;
    }
  }

  #onKey(key: Key): void {
    if (this.#last === undefined) return;
    const snapshot = { ...this.#last, detail: this.#detail };
    const { state, effect } = onKey(this.#state, key, viewOf(snapshot, this.#state));
    this.#state = state;
    if (effect?.kind === "quit") this.#terminal.close();
    else if (effect?.kind === "ask") void this.#askDetail();
    else if (effect?.kind === "set-limit") void this.#setLimit(effect.words);
    this.#draw();
  }

  async #setLimit(words: readonly string[]): Promise<void> {
    try {
      const { target, rates } = splitWords(words);
      const answer = await this.#client.put(pathOf(target), bodyOf(target, rates));
      this.#tell(changedLine(target, answer));
    } catch (error) {
      this.#tell(textOf(error));
    }
  }

  /** What ends with the view is no failure. */
  #fail(error: unknown): void {
    if (!this.#terminal.closed.aborted) this.#tell(textOf(error));
  }

  #tell(notice: string): void {
    this.#state = { ...this.#state, notice };
    this.#draw();
  }

  #draw(): void {
    if (this.#last === undefined) return;
    const snapshot = { ...this.#last, detail: this.#detail };
    this.#terminal.draw(frame(snapshot, this.#history, this.#state, true));
  }
}

/** What a user is told of a failure; others are mistakes of this program. */
function textOf(error: unknown): string {
  if (error instanceof AdminError || error instanceof ConfigError) return error.message;
  throw error;
}

function viewOf(snapshot: TopSnapshot, state: TopState): TopView {
  const size = terminalSize(process.stdout);
  return {
    rows: shownRows(snapshot.sample, state).map(({ key }) => key),
    waits: waitsOf(snapshot.sample).map(({ row }) => row),
    pageSize: pageSizeOf(size.rows),
    scrollMax: scrollMaxOf(snapshot, state, size),
    limitOf: (row) => limitWordsOf(row, snapshot.sample),
  };
}

function frame(
  snapshot: TopSnapshot,
  history: TopHistory,
  state: TopState,
  isLive: boolean,
): readonly string[] {
  return topFrame(snapshot, history, state, {
    ...terminalSize(process.stdout),
    isColoured: isColoured(process.stdout),
    time: new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" }).format(systemWallClock.now()),
    isLive,
  });
}
