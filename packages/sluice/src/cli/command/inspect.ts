import { inspectData } from "@sluice/gateway";
import type { DataReport, TopicReport } from "@sluice/gateway";
import { Command } from "commander";
import type { ExitCode } from "../main.ts";
import { writeLines } from "../output.ts";

const EXAMPLES = `
Examples:
  sluice broker inspect ./sluice-data
  sluice broker inspect ./sluice-data --json

Changes nothing; the broker may run meanwhile. Exits with 0, with 1 if something is damaged or the
folder cannot be read.`;

export function inspectCommand(end: (code: ExitCode) => void): Command {
  return (
    new Command("inspect")
      .summary("show segments, cursors and damage of a data folder")
      .description("Reads the data folder of a broker, checks every record, and changes nothing.")
      .argument("<folder>", "the data folder")
      .option("--json", "print the report as one JSON object")
      .addHelpText("after", EXAMPLES)
      // A subcommand's options must not be taken by the command above it.
      .action(async (folder: string, _: unknown, command: Command) => {
        const { json } = command.optsWithGlobals<{ readonly json?: true }>();
        const report = await inspectData(folder);
        const text = { ...report, partitions: Object.fromEntries(report.partitions) };
        await writeLines(process.stdout, json ? [JSON.stringify(text)] : inspectLines(report));
        if (report.damage.length > 0) end(1);
      })
  );
}

/** A report for people. */
function* inspectLines(report: DataReport): Generator<string> {
  for (const topic of report.topics) yield* topicLines(topic);
  for (const [topic, count] of report.partitions) yield `partitioned ${topic}: ${count} partitions`;
  for (const { topic, version, type, bytes } of report.schemas)
    yield `schema of ${topic}: version ${version}, type ${type}, ${bytes} bytes`;
  // The message names the file and, if it is known, the byte.
  for (const { message } of report.damage) yield `damage: ${message}`;
  const damage =
    report.damage.length === 0 ? "no damage" : `${report.damage.length} damaged places`;
  yield `${report.topics.length} topics, ${damage}`;
}

function* topicLines({ name, folder, segments, cursors }: TopicReport): Generator<string> {
  yield `topic ${name ?? `without a readable name in ${folder}`}`;
  for (const { ledgerId, state, entries, bytes, tornBytes } of segments) {
    const torn = tornBytes === 0 ? "" : `, ${tornBytes} bytes of a torn write`;
    yield `  segment ${ledgerId}, ${state}: ${entries} entries, ${bytes} bytes${torn}`;
  }
  for (const { subscription, markDelete, ranges, ackedBeyond, partlyAcked } of cursors)
    yield `  cursor ${JSON.stringify(subscription)}: mark-delete ${markDelete.ledgerId}:${markDelete.entryId}, ${ackedBeyond} entries acknowledged beyond it in ${ranges} ranges, ${partlyAcked} batches in part`;
}
