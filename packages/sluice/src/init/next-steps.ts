import type { FlowKind } from "./flow-template.ts";

/** A command to run next, and what it is for. */
interface NextStep {
  readonly command: string;
  readonly what: string;
}

const WRITTEN: Readonly<Record<FlowKind, string>> = {
  whole: "a gateway with an embedded broker, and a pipeline that reads from it",
  gateway: "a gateway with an embedded broker",
  pipeline: "a pipeline from a generator of messages",
};

/** What to try with a file that was just written, in this order. */
export function nextSteps(file: string): readonly NextStep[] {
  const named = file === "sluice.yaml" ? "" : ` ${quoted(file)}`;
  return [
    { command: `npx sluice check${named}`, what: "says whether it is right, after every change" },
    { command: `npx sluice run${named}`, what: "runs it; the dashboard is http://127.0.0.1:7070" },
    { command: "npx sluice why", what: "in another terminal: what waits, and why" },
  ];
}

export function initLines(file: string, kind: FlowKind): readonly string[] {
  const steps = nextSteps(file);
  const width = Math.max(...steps.map(({ command }) => command.length));
  return [
    `${file} is written: ${WRITTEN[kind]}. It runs as it is; its comments say what to change.`,
    "",
    ...steps.map(({ command, what }) => `  ${command.padEnd(width)}   ${what}`),
  ];
}

/** For a shell. */
function quoted(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`;
}
