/** Every key of a flow file with its value, default and effect, from the schema that `sluice schema` prints. */
import { flowJsonSchema } from "../../../packages/sluice/dist/cli/command/schema.js";
import { cell, table } from "./markdown.mjs";

/** Blocks with a section of their own, in the order of the page. `deadLetter` takes the keys of a sink. */
const SECTIONS = [
  { title: "The file", path: "" },
  { title: "`store`", path: "store" },
  { title: "`admin`", path: "admin" },
  { title: "`gateway`", path: "gateway" },
  { title: "`gateway.upstream`", path: "gateway.upstream" },
  { title: "`gateway.limits`", path: "gateway.limits" },
  { title: "`pipelines.NAME`", path: "pipelines.NAME" },
  { title: "`limits` of a pipeline and of a vertex", path: "pipelines.NAME.limits" },
  { title: "`vertices`", path: "pipelines.NAME.vertices" },
  { title: "`map`", path: "pipelines.NAME.vertices.map" },
];
const CHOICES = [
  { title: "source", path: "pipelines.NAME.vertices.source" },
  { title: "sink", path: "pipelines.NAME.vertices.sink" },
];
/** The same keys as elsewhere. */
const SAME = new Set(["pipelines.NAME.deadLetter", "pipelines.NAME.vertices.limits"]);

const EXAMPLE = `name: shop # namespaces every key in the store
store: memory # or { redis: { url: redis://127.0.0.1:6379 } }
admin: { listen: 127.0.0.1:7070 }
gateway:
  listen: pulsar://127.0.0.1:6650
  data: memory
  limits: { topics: { orders: { messages: 1000/s } } }
pipelines:
  orders:
    limits: { rateLimit: { max: 1000, min: 10, rampUpDuration: 60s } }
    retry: { attempts: 5 }
    deadLetter: { file: { path: ./failed.ndjson } }
    vertices:
      - { name: in, source: { pulsar: { topic: orders, subscription: shop } } }
      - { name: enrich, map: { module: ./enrich.mjs } }
      - name: out
        sink: { http: { url: "http://127.0.0.1:9000/", request: { concurrency: adaptive } } }
        limits: { rateLimit: { max: 200, modes: { goBackN: { coolDownPeriod: 5s } } } }`;

export function flowPage() {
  const blocks = new Map();
  visit(flowJsonSchema(), "", blocks);
  const stops = new Set([...SECTIONS, ...CHOICES].map(({ path }) => path));
  return [
    "# Flow file",
    "One YAML or JSON file describes what a process runs: a gateway, pipelines, or both. Any block may be absent. Generated from the schema that checks it: `npm run docs:reference`.",
    `\`\`\`yaml\n${EXAMPLE}\n\`\`\``,
    "`sluice check flow.yaml` reports every mistake at once, with its line, what was found and what is expected. An editor with a YAML language server completes and checks a file that begins with `# yaml-language-server: $schema=./sluice.schema.json`, which `sluice schema` prints.",
    "Paths are taken from the folder of the flow file. Durations have a unit (`10s`, `250ms`, `1h30m`), sizes too (`64MiB` is 2²⁰, `10MB` is 10⁶), rates have a period (`1000/s`). Secrets are in files (`tokenFile`, `passwordFile`), and no error, log line or answer shows them. Keys with * are required. How a process runs the file: [pipelines](../explanation/pipeline.md#how-a-flow-file-runs); what limits of publishing do: [publish-limits.md](publish-limits.md).",
    ...SECTIONS.flatMap(({ title, path }) => [
      `## ${title}`,
      tableOf(rowsBelow(blocks, path, stops)),
    ]),
    ...CHOICES.flatMap(({ title, path }) => [
      `## \`${title}\`: one of these`,
      ...blocks.get(path).flatMap(({ key, description }) => {
        const rows = rowsBelow(blocks, `${path}.${key}`, stops);
        const text = [`### ${title} \`${key}\``, description];
        return rows.length === 0 ? [...text, "No keys."] : [...text, tableOf(rows)];
      }),
    ]),
    "",
  ].join("\n\n");
}

/** Keeps the keys of every map by its path. Names that a user chooses are `NAME`. */
function visit(schema, path, blocks) {
  const { properties = {}, required = [], additionalProperties, items, anyOf = [] } = schema;
  if (SAME.has(path)) return;
  for (const [key, value] of Object.entries(properties)) {
    const rows = blocks.get(path) ?? [];
    blocks.set(path, rows);
    if (!rows.some((row) => row.key === key))
      rows.push({ key, ...rowOf(value), isRequired: required.includes(key) });
    visit(value, path === "" ? key : `${path}.${key}`, blocks);
  }
  if (typeof additionalProperties === "object") visit(additionalProperties, `${path}.NAME`, blocks);
  if (items !== undefined) visit(items, path, blocks);
  for (const one of anyOf) visit(one, path, blocks);
}

function rowOf(schema) {
  const description = [schema, ...(schema.anyOf ?? [])].find((one) => one.description)?.description;
  return { description: description ?? "", default: schema.default, value: valueOf(schema) };
}

function valueOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.anyOf !== undefined) {
    const values = schema.anyOf.map(valueOf).filter((value) => value !== "");
    return [...new Set(values)].join(" or ");
  }
  const { type, minimum, maximum } = schema;
  if (type === "integer" || type === "number")
    return maximum === undefined || maximum >= 1e12
      ? `${minimum ?? 0} or more`
      : `${minimum ?? 0} to ${maximum.toLocaleString("en-US", { useGrouping: false })}`;
  const words = {
    object: "map",
    array: "list",
    boolean: "true or false",
    string: "text",
    number: "number",
  };
  // Durations may be text or a map.
  return words[type] ?? (Array.isArray(type) ? type.map((one) => words[one]).join(" or ") : "any");
}

/** The keys of a map and, with their path, of the maps in it, except where another section begins. */
function rowsBelow(blocks, path, stops, prefix = "") {
  return (blocks.get(path) ?? []).flatMap((row) => {
    const below = path === "" ? row.key : `${path}.${row.key}`;
    const named = [below, `${below}.NAME`, `${below}.NAME.NAME`];
    const deeper = stops.has(below)
      ? []
      : named
          .filter((one) => !stops.has(one))
          .flatMap((one) =>
            rowsBelow(blocks, one, stops, `${prefix}${row.key}${one.slice(below.length)}.`),
          );
    return [{ ...row, key: `${prefix}${row.key}` }, ...deeper];
  });
}

function tableOf(rows) {
  return table(
    ["key", "value", "default", "what"],
    rows.map((row) => {
      const told = /\s*Default: (.+?)\.?$/.exec(row.description);
      const given = row.default === undefined ? told?.[1] : `\`${row.default}\``;
      return [
        `\`${row.key}\`${row.isRequired ? " *" : ""}`,
        cell(row.value),
        cell(given ?? ""),
        cell(row.description.replace(/\s*Default: .+$/, "")),
      ];
    }),
  );
}
