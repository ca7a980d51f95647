import { Argument, Command } from "commander";
import { writeLines } from "../output.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const EXAMPLES = `
Examples:
  sluice completion bash >> ~/.bashrc
  sluice completion zsh > "\${fpath[1]}/_sluice"
  sluice completion fish > ~/.config/fish/completions/sluice.fish`;

/** A command with the words that may follow it. */
interface Completed {
  /** "limits set"; empty for the program itself. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly what: string }[];
}

export function completionCommand(): Command {
  const command = new Command("completion");
  return command
    .summary("print a script that completes commands in a shell")
    .description("Prints a script that completes the commands and options of sluice in a shell.")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(SHELLS))
    .addHelpText("after", EXAMPLES)
    .action(async (shell: Shell) => {
      const tree = completed(command.parent ?? command, "");
      await writeLines(process.stdout, SCRIPTS[shell](tree));
    });
}

/** The commands of a program, each with its subcommands and options. */
function completed(command: Command, path: string): readonly Completed[] {
  const words = [
    ...command.commands.map((one) => ({ word: one.name(), what: one.summary() })),
    ...command.options.map(({ long, short, description }) => ({
      word: long ?? short ?? "",
      what: description,
    })),
    { word: "--help", what: "display help" },
  ];
  const nested = command.commands.flatMap((one) => completed(one, `${path} ${one.name()}`.trim()));
  return [{ path, words }, ...nested];
}

const SCRIPTS: Readonly<Record<Shell, (tree: readonly Completed[]) => readonly string[]>> = {
  bash: (tree) => [
    "_sluice() {",
    '  local path="" word',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    [[ "$word" == -* ]] || path="${path:+$path }$word"',
    "  done",
    '  local words=""',
    '  case "$path" in',
    ...tree.map(({ path, words }) => `    "${path}") words="${listed(words)}" ;;`),
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); fi',
    "}",
    "complete -o filenames -F _sluice sluice",
  ],
  zsh: (tree) => [
    "#compdef sluice",
    "_sluice() {",
    '  local path="" word',
    "  for word in ${words[2,CURRENT-1]}; do",
    '    [[ $word == -* ]] || path="${path:+$path }$word"',
    "  done",
    "  local -a found",
    '  case "$path" in',
    ...tree.map(
      ({ path, words }) =>
        `    "${path}") found=(${words.map(({ word, what }) => quoted(`${word}:${what}`)).join(" ")}) ;;`,
    ),
    "  esac",
    "  _describe 'sluice' found || _files",
    "}",
    '_sluice "$@"',
  ],
  fish: (tree) =>
    tree.flatMap(({ path, words }) => {
      const names = path.split(" ").filter((name) => name !== "");
      const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`).join("; and ");
      const condition = seen === "" ? "__fish_use_subcommand" : seen;
      return words.map(({ word, what }) => {
        const flag = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
        return `complete -c sluice -n ${quoted(condition)} ${flag} -d ${quoted(what)}`;
      });
    }),
};

function listed(words: Completed["words"]): string {
  return words.map(({ word }) => word).join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
