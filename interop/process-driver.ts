import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type {
  ConsumeCommand,
  ConsumeOutcome,
  Driver,
  ProduceCommand,
  ProduceOutcome,
  Run,
  SeenMessage,
} from "./driver.ts";
import { readFound } from "./found.ts";
import type { Found } from "./found.ts";

/** One line of a driver's answer. */
type Answer = { readonly event: string } & Readonly<Record<string, unknown>>;

/** A client that hangs must not outlive its test. */
const COMMAND_TIMEOUT_MS = 100_000;

export type ClientName = Exclude<keyof Found, "broker">;

/** A client in a process of its own, started for each command and gone after it. */
export class ProcessDriver implements Driver {
  readonly name: ClientName;
  readonly lacks: Driver["lacks"];

  constructor(name: ClientName, lacks: Driver["lacks"] = {}) {
    this.name = name;
    this.lacks = lacks;
  }

  get missing(): string | undefined {
    const program = readFound()[this.name];
    return "missing" in program ? program.missing : undefined;
  }

  produce(serviceUrl: string, command: ProduceCommand): Run<ProduceOutcome> {
    const run = this.run(serviceUrl, { command: "produce", ...command });
    return { ready: run.ready, outcome: run.outcome.then(produced) };
  }

  consume(serviceUrl: string, command: ConsumeCommand): Run<ConsumeOutcome> {
    const run = this.run(serviceUrl, { command: "consume", ...command });
    return { ready: run.ready, outcome: run.outcome.then(consumed) };
  }

  /** Any command that the driver's program knows; the outcome is all that it said. */
  run(serviceUrl: string, command: Readonly<Record<string, unknown>>): Run<readonly Answer[]> {
    const program = readFound()[this.name];
    if ("missing" in program) throw new Error(program.missing);
    const child = spawn(program.command, [...program.args, serviceUrl], {
      env: { ...process.env, ...program.env },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: COMMAND_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    child.stdin.end(JSON.stringify(command));
    const errors: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => errors.push(text));
    const answers: Answer[] = [];
    const closed = once(child, "close");
    const lines = createInterface({ input: child.stdout });
    const ready = new Promise<void>((resolve) => {
      lines.on("line", (line) => {
        answers.push(JSON.parse(line) as Answer);
        resolve();
      });
      // Whoever waits for a client that failed learns why from the outcome.
      lines.on("close", resolve);
    });
    return { ready, outcome: closed.then(() => this.#checked(answers, errors)) };
  }

  #checked(answers: readonly Answer[], errors: readonly string[]): readonly Answer[] {
    const last = answers.at(-1);
    if (last?.event === "done") return answers;
    const reason =
      last?.event === "error" ? String(last["message"]) : errors.join("").slice(-2_000);
    throw new Error(`the ${this.name} client failed: ${reason}`);
  }
}

function produced(answers: readonly Answer[]): ProduceOutcome {
  return answers.at(-1) as unknown as ProduceOutcome;
}

function consumed(answers: readonly Answer[]): ConsumeOutcome {
  const tally = answers.at(-1) as unknown as Omit<ConsumeOutcome, "messages">;
  const messages = answers.filter(({ event }) => event === "message");
  return { ...tally, messages: messages as unknown as readonly SeenMessage[] };
}
