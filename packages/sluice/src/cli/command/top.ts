import { ConfigError } from "@sluice/core";
import { systemTimer, systemWallClock } from "@sluice/core/system";
import { Command } from "commander";
import { TopHistory } from "../../top/history.ts";
import type { Key } from "../../top/keys.ts";
import { LiveTerminal } from "../../top/live-terminal.ts";
import type { StateAnswer, TopSnapshot } from "../../top/state-answer.ts";
import { pageSizeOf, scrollMaxOf, topFrame } from "../../top/top-frame.ts";
import { limitWordsOf, shownRows, topRows, whyNameOf } from "../../top/top-rows.ts";
import { onKey, TOP_START } from "../../top/top-state.ts";
import type { TopState, TopView } from "../../top/top-state.ts";
import { waitsOf } from "../../top/top-waits.ts";
import { changedLine } from "../../limits/limit-table.ts";
import type { AnsweredLimits } from "../../limits/limit-table.ts";
import { bodyOf, pathOf, splitWords } from "../../limits/limit-words.ts";
import type { WholeWhy } from "../../why/why-lines.ts";
import { AdminError, adminClient, withAdminOptions } from "../flow/admin-client.ts";
import type { AdminClient, AdminOptions } from "../flow/admin-client.ts";
import { isColoured } from "../colour.ts";
import type { ExitCode } from "../main.ts";
import { writeLines } from "../output.ts";
import { orFail } from "./serve.ts";

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
what the administration answers, one object each second, or one with --once. Exits with 1 if no gateway
answers.`;

const EVERY_MS = 1_000;
/** Of a frame without a terminal. */
const NO_TERMINAL = { columns: 100, rows: 60 };

export function topCommand(end: (code: ExitCode) => void): Command {
  const command = new Command("top")
    .summary("show a live view of a running gateway and its pipelines")
    .description(
      "Shows rates, limits, queues and waits of a running gateway and its pipelines, live.",
    )
    .option("--once", "print one frame and exit");
  return withAdminOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (options: TopOptions) => {
      const client = await adminClient(options);
      await orFail(show(client, options), end);
    });
}

async function show(client: AdminClient, options: TopOptions): Promise<void> {
  const isLive = options.once !== true && options.json !== true && process.stdout.isTTY;
  if (isLive) return new LiveView(client).run();
  const history = new TopHistory();
  for (;;) {
    const snapshot = await snapshotOf(client, TOP_START);
    history.add(topRows(snapshot));
    await writeLines(
      process.stdout,
      options.json ? [JSON.stringify(snapshot)] : frame(snapshot, history, TOP_START, false),
    );
    if (options.once === true || options.json !== true || process.stdout.destroyed) return;
    await systemTimer.sleep(EVERY_MS);
  }
}

/** Asks the administration every second, and draws after every answer and every key. */
class LiveView {
  readonly #client: AdminClient;
  readonly #terminal = new LiveTerminal();
  readonly #history = new TopHistory();
  #state = TOP_START;
  #last: TopSnapshot | undefined;
  /** Ends the pause before the next question. */
  #asking = new AbortController();

  constructor(client: AdminClient) {
    this.#client = client;
  }

  async run(): Promise<void> {
    // Before the terminal is taken: without a gateway there is nothing to show.
    await this.#ask();
    const { closed } = this.#terminal;
    this.#terminal.open({ onKey: (key) => this.#onKey(key), onResize: () => this.#draw() });
    try {
      while (!closed.aborted) {
        this.#draw();
        this.#asking = new AbortController();
        const woken = AbortSignal.any([closed, this.#asking.signal]);
        await systemTimer.sleep(EVERY_MS, woken).catch(() => undefined);
        // After the end it asks nothing: its signal has aborted.
        await this.#ask().catch((error: unknown) => this.#tell(textOf(error)));
      }
    } finally {
      this.#terminal.close();
    }
  }

  async #ask(): Promise<void> {
    const snapshot = await snapshotOf(this.#client, this.#state, this.#terminal.closed);
    this.#last = snapshot;
    this.#history.add(topRows(snapshot));
  }

  #onKey(key: Key): void {
    const snapshot = this.#last;
    if (snapshot === undefined) return;
    const { state, effect } = onKey(this.#state, key, viewOf(snapshot, this.#state));
    this.#state = state;
    if (effect?.kind === "quit") this.#terminal.close();
    else if (effect?.kind === "ask") this.#asking.abort();
    else if (effect?.kind === "set-limit") void this.#setLimit(effect.words);
    this.#draw();
  }

  async #setLimit(words: readonly string[]): Promise<void> {
    try {
      const { target, rates } = splitWords(words);
      const answer = await this.#client.put(pathOf(target), bodyOf(target, rates));
      this.#tell(changedLine(target, answer));
      this.#asking.abort();
    } catch (error) {
      this.#tell(textOf(error));
    }
  }

  #tell(notice: string): void {
    this.#state = { ...this.#state, notice };
    this.#draw();
  }

  #draw(): void {
    if (this.#last !== undefined)
      this.#terminal.draw(frame(this.#last, this.#history, this.#state, true));
  }
}

/** What a user is told of a failure; others are mistakes of this program. */
function textOf(error: unknown): string {
  if (error instanceof AdminError || error instanceof ConfigError) return error.message;
  throw error;
}

function viewOf(snapshot: TopSnapshot, state: TopState): TopView {
  const size = sizeOfTerminal();
  return {
    rows: shownRows(snapshot, state).map(({ key }) => key),
    waits: waitsOf(snapshot.why).map(({ row }) => row),
    pageSize: pageSizeOf(size.rows),
    scrollMax: scrollMaxOf(snapshot, state, size),
    limitOf: (row) => limitWordsOf(row, snapshot),
  };
}

function frame(
  snapshot: TopSnapshot,
  history: TopHistory,
  state: TopState,
  isLive: boolean,
): readonly string[] {
  return topFrame(snapshot, history, state, {
    ...sizeOfTerminal(),
    isColoured: isColoured(process.stdout),
    time: new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" }).format(systemWallClock.now()),
    isLive,
  });
}

function sizeOfTerminal(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = process.stdout.isTTY ? process.stdout : NO_TERMINAL;
  return { columns, rows };
}

async function snapshotOf(
  client: AdminClient,
  { mode }: TopState,
  signal?: AbortSignal,
): Promise<TopSnapshot> {
  const name = mode.name === "detail" ? whyNameOf(mode.row) : undefined;
  const [state, why, limits, answer] = await Promise.all([
    client.get("/api/state", signal),
    client.get("/api/why", signal),
    client.get("/api/limits", signal),
    name === undefined
      ? undefined
      : client.get(`/api/why?name=${encodeURIComponent(name)}`, signal),
  ]);
  const detail = name === undefined ? why : answer;
  return {
    state: state as StateAnswer,
    why: why as WholeWhy,
    limits: limits as AnsweredLimits,
    ...(mode.name === "detail" && { detail: { name, answer: detail as WholeWhy } }),
  };
}
