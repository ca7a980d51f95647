import { Command } from "commander";
import { describedSchema } from "../../flow/schema/described-schema.ts";
import { flowSchema } from "../../flow/schema/flow-schema.ts";
import { jsonSchemaOf } from "../../flow/schema/json-schema.ts";
import { writeLines } from "../output.ts";

const EXAMPLES = `
Examples:
  sluice schema > sluice.schema.json

An editor with a YAML language server completes and checks a flow file that begins with:
  # yaml-language-server: $schema=./sluice.schema.json`;

export function schemaCommand(): Command {
  return new Command("schema")
    .summary("print the JSON schema of flow files")
    .description("Prints the JSON schema of flow files, for editors.")
    .addHelpText("after", EXAMPLES)
    .action(async () => {
      await writeLines(process.stdout, [JSON.stringify(flowJsonSchema(), null, 2)]);
    });
}

/** The schema of a whole file. */
export function flowJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Sluice flow file",
    ...describedSchema(jsonSchemaOf(flowSchema)),
    anyOf: [{ required: ["gateway"] }, { required: ["pipelines"] }],
  };
}
