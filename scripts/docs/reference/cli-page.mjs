/** Every command of `sluice` as its `--help` prints it. */
import { commandsOf, programOf } from "../../../packages/sluice/dist/cli/main.js";

/** Columns of the help; a terminal has its own width. */
const WIDTH = 100;

export function cliPage() {
  const commands = commandsOf(programOf(() => undefined));
  return [
    "# Command line",
    "`npm i sluice`, then `npx sluice COMMAND`. What `sluice COMMAND --help` prints; generated from the commands: `npm run docs:reference`.",
    ...commands.flatMap((command) => [
      `## ${pathOf(command)}`,
      `\`\`\`text\n${helpOf(command).trim()}\n\`\`\``,
    ]),
    "",
  ].join("\n\n");
}

function pathOf(command) {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function helpOf(command) {
  let text = "";
  command.configureOutput({
    writeOut: (written) => (text += written),
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text;
}
