import { ConfigError } from "@sluice/core";
import { Command, CommanderError } from "commander";
import { brokerCommand } from "./command/broker.ts";
import { completionCommand } from "./command/completion.ts";
import { FlowFileError } from "../flow/flow-file.ts";
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

/** Runs one command line and tells how it ended. Nothing here ends the process. */
export async function runCli(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const end = (code: ExitCode): void => {
    exitCode = code;
  };
  const program = programOf(end);
  // Help and version are gathered, then written as results are: commander's own write ends the process with a stack trace
  // when `head` has closed the pipe.
  const help: string[] = [];
  for (const command of commandsOf(program)) {
    command
      .exitOverride()
      .showHelpAfterError(`(sluice ${helpPath(command)}--help shows how)`)
      .configureOutput({ writeOut: (text) => help.push(text.trimEnd()) });
  }
  try {
    await program
      .parseAsync(withoutHelp(program, args), { from: "user" })
      .catch((error: unknown) => {
        if (!(error instanceof CommanderError)) throw error;
        exitCode = error.exitCode === 0 ? 0 : 2;
      });
    await writeLines(process.stdout, help);
    return exitCode;
  } catch (error) {
    if (error instanceof ConfigError || error instanceof FlowFileError) {
      process.stderr.write(`${error.message}\n`);
      return 2;
    }
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== "write") throw error;
    process.stderr.write(`the result cannot be written: ${code}\n`);
    return 1;
  }
}

/** The command line with all its commands. */
export function programOf(end: (code: ExitCode) => void): Command {
  return new Command("sluice")
    .description("Flow control for message pipelines and services.")
    .version(version)
    .addCommand(initCommand())
    .addCommand(runCommand(end))
    .addCommand(checkCommand(end))
    .addCommand(schemaCommand())
    .addCommand(whyCommand(end))
    .addCommand(limitsCommand(end))
    .addCommand(topCommand(end))
    .addCommand(simulateCommand(end))
    .addCommand(brokerCommand(end))
    .addCommand(completionCommand());
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
