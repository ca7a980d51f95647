/** The members of an interface, a class or an object type: name, type, doc comment, default. */
import { docBefore, plain } from "./declarations.mjs";

/**
 * @typedef {{
 *   name: string, type: string, doc: string, isOptional: boolean, isMethod: boolean, isStatic: boolean,
 *   default: string | undefined
 * }} Member
 */

/** @param {import("./declarations.mjs").Statement} statement @returns {readonly Member[]} */
export function membersOf({ node, source }) {
  const body = bodyOf(node);
  return body.filter(isPublic).map((member) => memberOf(member, source));
}

function bodyOf(node) {
  switch (node.type) {
    case "TSInterfaceDeclaration":
    case "ClassDeclaration":
      return node.body.body;
    case "TSTypeAliasDeclaration":
      return node.typeAnnotation.type === "TSTypeLiteral" ? node.typeAnnotation.members : [];
    default:
      return [];
  }
}

function isPublic({ accessibility, key }) {
  return accessibility !== "private" && key?.type !== "PrivateIdentifier";
}

function memberOf(member, source) {
  const { key } = member;
  const keyText = key === undefined ? "" : source.text.slice(key.start, key.end);
  const name = member.computed === true ? `[${keyText}]` : keyText;
  const doc = docBefore(source, member.start);
  const { text, default: given } = docParts(doc);
  const whole = plain(source.text.slice(member.start, member.end)).replace(/;$/, "");
  const isMethod = /^TS(Method|Call|Construct)Signature|^(TSAbstract)?MethodDefinition/.test(
    member.type,
  );
  const isGetter = member.kind === "get";
  const type = typeOf(member, source, { whole, keyText });
  return {
    name: name === "" ? whole.replace(/[(:<][\s\S]*/, "") || "()" : name,
    type,
    doc: text,
    isOptional: member.optional === true,
    isMethod: isMethod && !isGetter,
    isStatic: member.static === true,
    default: given,
  };
}

function typeOf(member, source, { whole, keyText }) {
  if (member.kind === "get") {
    const { returnType } = member.value ?? member;
    return plain(sliceOf(source, returnType?.typeAnnotation)) || "unknown";
  }
  if (/Property/.test(member.type))
    return (
      plain(sliceOf(source, member.typeAnnotation?.typeAnnotation ?? member.value)) || "unknown"
    );
  const head = keyText === "" ? whole : whole.slice(whole.indexOf(keyText) + keyText.length);
  return head.replace(/^[\]?]+/, "");
}

function sliceOf(source, node) {
  return node === undefined || node === null ? "" : source.text.slice(node.start, node.end);
}

/** A doc comment without its `@default` and `@example`, and the default: of that tag, or of a sentence `Default: 5.` */
export function docParts(doc) {
  const described = doc.replace(/\s*@example[\s\S]*$/, "");
  const tag = /@default\s+([\s\S]*?)(?=\n\s*@|$)/.exec(described)?.[1];
  const text = described.replace(/\s*@default\s+[\s\S]*?(?=\n\s*@|$)/, "").trim();
  const told = /(?:^|\s)Default: ((?:`[^`]*`|[^`.;]|\.(?=\d))+)/.exec(text)?.[1];
  const before = /(?:^|\s)(`[^`]+`|\d[\d ]*) unless given/.exec(text)?.[1];
  const found = tag ?? told ?? before;
  return { text, default: found === undefined ? undefined : plain(found).replaceAll("`", "") };
}
