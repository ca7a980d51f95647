import { systemTimer, systemWallClock } from "@sluice/core/system";
import { Command } from "commander";
import { TopHistory } from "../../top/history.ts";
import { topFrame } from "../../top/top-frame.ts";
import { topRows } from "../../top/top-rows.ts";
import type { StateAnswer, TopSnapshot } from "../../top/state-answer.ts";
import type { AnsweredLimits } from "../../limits/limit-table.ts";
import type { WholeWhy } from "../../why/why-lines.ts";
import { adminClient, withAdminOptions } from "../flow/admin-client.ts";
import type { AdminClient, AdminOptions } from "../flow/admin-client.ts";
import { isColoured } from "../colour.ts";
import type { ExitCode } from "../main.ts";
import { writeLines } from "../output.ts";
import { orFail } from "./serve.ts";
import { LiveTerminal } from "../../top/live-terminal.ts";

interface TopOptions extends AdminOptions {
  readonly once?: true;
}

const EXAMPLES = `
Examples:
  sluice top
  sluice top --once
  sluice top --json --once

Keys: w explains the next wait, q quits. Without a terminal it prints one frame. --json prints what the
administration answers, one object each second, or one with --once. Exits with 1 if no gateway answers.`;

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
  if (isLive) return showLive(client);
  const history = new TopHistory();
  for (;;) {
    const snapshot = await snapshotOf(client);
    history.add(topRows(snapshot));
    await writeLines(
      process.stdout,
      options.json ? [JSON.stringify(snapshot)] : frame(snapshot, history, 0),
    );
    if (options.once === true || options.json !== true || process.stdout.destroyed) return;
    await systemTimer.sleep(EVERY_MS);
  }
}

async function showLive(client: AdminClient): Promise<void> {
  const history = new TopHistory();
  const terminal = new LiveTerminal();
  let whyIndex = 0;
  let last: TopSnapshot | undefined;
  const draw = (): void => {
    if (last !== undefined) terminal.draw(frame(last, history, whyIndex));
  };
  terminal.open({
    onKey: (key) => {
      if (key === "q") terminal.close();
      if (key === "w") whyIndex++;
      draw();
    },
    onResize: draw,
  });
  try {
    while (!terminal.closed.aborted) {
      last = await snapshotOf(client);
      history.add(topRows(last));
      draw();
      await systemTimer.sleep(EVERY_MS, terminal.closed).catch(() => undefined);
    }
  } finally {
    terminal.close();
  }
}

function frame(snapshot: TopSnapshot, history: TopHistory, whyIndex: number): readonly string[] {
  const { columns, rows } = process.stdout.isTTY ? process.stdout : NO_TERMINAL;
  return topFrame(snapshot, history, {
    columns,
    rows,
    isColoured: isColoured(process.stdout),
    time: new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" }).format(systemWallClock.now()),
    whyIndex,
  });
}

async function snapshotOf(client: AdminClient): Promise<TopSnapshot> {
  const [state, why, limits] = await Promise.all([
    client.get("/api/state"),
    client.get("/api/why"),
    client.get("/api/limits"),
  ]);
  return {
    state: state as StateAnswer,
    why: why as WholeWhy,
    limits: limits as AnsweredLimits,
  };
}
