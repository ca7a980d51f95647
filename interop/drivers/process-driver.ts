import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { consumeOutcome, floodOutcome, parseAnswer, produceOutcome } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type {
  ConsumeCommand,
  ConsumeOutcome,
  Driver,
  ProduceCommand,
  ProduceOutcome,
  Run,
} from "./driver.ts";
import type { FloodCommand, FloodOutcome } from "./flood.ts";
import { clientProgram } from "../programs/found.ts";
import type { ClientName } from "../programs/found.ts";

/** A client that hangs must not outlive its test. */
const COMMAND_TIMEOUT_MS = 100_000;

/** A client in a process of its own, started for each command and gone after it. */
export class ProcessDriver implements Driver {
  readonly name: ClientName;
  readonly lacks: Driver["lacks"];

  constructor(name: ClientName, lacks: Driver["lacks"] = {}) {
    this.name = name;
    this.lacks = lacks;
  }

  get missing(): string | undefined {
    const program = clientProgram(this.name);
    return "missing" in program ? program.missing : undefined;
  }

  produce(serviceUrl: string, command: ProduceCommand): Run<ProduceOutcome> {
    const run = this.run(serviceUrl, { command: "produce", ...command });
    return { ready: run.ready, outcome: run.outcome.then(produceOutcome) };
  }

  consume(serviceUrl: string, command: ConsumeCommand): Run<ConsumeOutcome> {
    const run = this.run(serviceUrl, { command: "consume", ...command });
    return { ready: run.ready, outcome: run.outcome.then(consumeOutcome) };
  }

  flood(serviceUrl: string, command: FloodCommand): Run<FloodOutcome> {
    const run = this.run(serviceUrl, { command: "flood", ...command });
    return { ready: run.ready, outcome: run.outcome.then(floodOutcome) };
  }

  /** Any command that the driver's program knows; the outcome is all that it said. */
  run(serviceUrl: string, command: Readonly<Record<string, unknown>>): Run<readonly Answer[]> {
    const program = clientProgram(this.name);
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
    const lines: string[] = [];
    const closed = once(child, "close");
    const reader = createInterface({ input: child.stdout });
    const ready = new Promise<void>((resolve) => {
      reader.on("line", (line) => {
        lines.push(line);
        resolve();
      });
      // Whoever waits for a client that failed learns why from the outcome.
      reader.on("close", resolve);
    });
    return { ready, outcome: closed.then(() => this.#checked(lines.map(parseAnswer), errors)) };
  }

  #checked(answers: readonly Answer[], errors: readonly string[]): readonly Answer[] {
    const last = answers.at(-1);
    if (last?.event === "done") return answers;
    const reason =
      last?.event === "error" ? String(last["message"]) : errors.join("").slice(-2_000);
    throw new Error(`the ${this.name} client failed: ${reason}`);
  }
}
