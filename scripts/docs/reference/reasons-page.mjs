/** The closed lists of reasons and error codes, with the comments of their declarations. */
import { join } from "node:path";
import { publicDeclarations } from "./api-pages.mjs";
import { docBefore, sourceOf } from "./declarations.mjs";
import { table } from "./markdown.mjs";
import { membersOf } from "./members.mjs";

/** @param {string} root of the repository */
export function reasonsPage(root) {
  const reasons = elementsOf(join(root, "packages/core/src/reason.ts"), "REASONS");
  const codes = elementsOf(join(root, "packages/core/src/errors.ts"), "SluiceErrorCode");
  const classes = errorClasses(root);
  return [
    "# Reasons and error codes",
    "Being limited is a result with a reason. Errors are few, with codes that programs branch on; messages may change. Generated from the declarations: `npm run docs:reference`.",
    "## Reasons",
    "One closed list for the wire, errors, metrics, `sluice why` and the dashboard. A call that carries none of these was not limited.",
    table(
      ["reason", "what holds the call"],
      reasons.map(({ name, doc }) => [`\`${name}\``, doc]),
    ),
    "## Error codes",
    "Every error that Sluice throws on purpose extends `SluiceError` and has one of these as `code`.",
    table(
      ["code", "what happened", "classes"],
      codes.map(({ name, doc }) => [`\`${name}\``, doc, classes.get(name)?.join(", ") ?? ""]),
    ),
    "",
  ].join("\n\n");
}

/** The texts of a constant list or of a union, each with its comment. */
function elementsOf(file, name) {
  const source = sourceOf(file);
  const declared = source.program.body
    .map((node) => node.declaration)
    .find((node) => node?.id?.name === name || node?.declarations?.[0]?.id.name === name);
  const list =
    declared?.declarations?.[0].init.expression.elements ?? declared?.typeAnnotation.types;
  return list.map((node) => {
    const value = node.value ?? node.literal.value;
    const doc = docBefore(source, node.start) || docBefore(source, barBefore(source, node.start));
    if (doc === "") throw new Error(`${file}: ${value} has no comment`);
    return { name: value, doc };
  });
}

/** In a union the comment stands before the bar. */
function barBefore({ text }, start) {
  return text.lastIndexOf("|", start);
}

function errorClasses(root) {
  const classes = new Map();
  for (const { entry, name, statements } of publicDeclarations(root))
    for (const statement of statements) {
      const code = membersOf(statement).find((member) => member.name === "code")?.type;
      if (statement.node.type !== "ClassDeclaration" || !/^"[A-Z]+"$/.test(code ?? "")) continue;
      const key = JSON.parse(code);
      const [, short = ""] = entry.split("/");
      const link = `[\`${name}\`](api/${short}.md#${name.toLowerCase()}) of \`${entry}\``;
      classes.set(key, [...(classes.get(key) ?? []), link]);
    }
  return classes;
}
