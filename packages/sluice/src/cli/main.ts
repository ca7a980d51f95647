import { Command, CommanderError } from "commander";
import { brokerCommand } from "./command/broker.ts";
import { completionCommand } from "./command/completion.ts";
import { failureOf, failureText, usageFailure } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { initCommand } from "./command/init.ts";
import { limitsCommand } from "./command/limits.ts";
import { checkCommand, runCommand } from "./command/run.ts";
import { schemaCommand } from "./command/schema.ts";
import { simulateCommand } from "./command/simulate.ts";
import { topCommand } from "./command/top.ts";
import { whyCommand } from "./command/why.ts";
import { writeLines } from "./output.ts";
import { version } from "./version.ts";

/** Done, failed (also: an expectation missed), wrong usage or a wrong file. */
export type ExitCode = 0 | 1 | 2;

const ENDS = `
Exits with 0 when done, with 1 if something failed or an expectation was missed, with 2 for wrong usage or a wrong file.
With --json the reason is one object on standard error, { error: { code, message, exitCode } }, whose code is USAGE for
wrong usage, CONFIG for a wrong file or setting, CONNECTION if no gateway answers, BROKER if it refuses.`;

/** Runs one command line and tells how it ended. Nothing here ends the process. */
export async function runCli(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const end = (code: ExitCode): void => {
    exitCode = code;
  };
  const program = programOf(end);
  const fail = (failure: Failure): void => {
    process.stderr.write(`${failureText(failure, args.includes("--json"))}\n`);
    exitCode = failure.exitCode;
  };
  // Help and version are gathered, then written as results are: commander's own write ends the process with a stack trace
  // when `head` has closed the pipe.
  const help: string[] = [];
  const usage: string[] = [];
  for (const command of commandsOf(program)) {
    command
      .exitOverride()
      .showHelpAfterError(`(sluice ${helpPath(command)}--help shows how)`)
      .configureOutput({
        writeOut: (text) => help.push(text.trimEnd()),
        writeErr: (text) => usage.push(text),
      });
  }
  try {
    await program
      .parseAsync(withoutHelp(program, args), { from: "user" })
      .catch((error: unknown) => {
        if (!(error instanceof CommanderError)) throw error;
        if (error.exitCode !== 0) fail(usageFailure(usage));
      });
    await writeLines(process.stdout, help);
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    fail(failure);
  }
  return exitCode;
}

/** The command line with all its commands. */
export function programOf(end: (code: ExitCode) => void): Command {
  return new Command("sluice")
    .description("Flow control for message pipelines and services.")
    .version(version)
    .addCommand(initCommand())
    .addCommand(runCommand())
    .addCommand(checkCommand(end))
    .addCommand(schemaCommand())
    .addCommand(whyCommand())
    .addCommand(limitsCommand())
    .addCommand(topCommand())
    .addCommand(simulateCommand(end))
    .addCommand(brokerCommand(end))
    .addCommand(completionCommand())
    .addHelpText("after", ENDS);
}

/** A command and all below it, in the order of the help. */
export function commandsOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** `help nothing` as `nothing`: commander names an unknown command, but answers `help` for one with the help of all. */
function withoutHelp(command: Command, args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  const [name = "help"] = rest;
  const find = (wanted: string | undefined): Command | undefined =>
    command.commands.find((one) => one.name() === wanted);
  const below = find(first);
  if (below !== undefined) return [below.name(), ...withoutHelp(below, rest)];
  const hasHelp = first === "help" && command.commands.length > 0;
  return hasHelp && name !== "help" && find(name) === undefined ? rest : args;
}

function helpPath(command: Command): string {
  return command.parent === null ? "" : `${helpPath(command.parent)}${command.name()} `;
}
