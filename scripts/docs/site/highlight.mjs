/** Colours of code at build time: comments, texts, numbers and words of the language. */

const WORDS = {
  ts: "as|async|await|break|case|catch|class|const|continue|declare|default|else|export|extends|finally|for|from|function|if|implements|import|in|instanceof|interface|let|new|of|readonly|return|static|switch|throw|try|type|typeof|using|while|yield|true|false|null|undefined",
  yaml: "true|false|null",
  python: "def|for|from|if|import|in|is|not|return|while|with|as|else|None|True|False|print",
};
const KINDS = { js: "ts", typescript: "ts", json: "yaml" };

/** @returns {string} HTML without its `pre` */
export function highlight(code, language) {
  const kind = KINDS[language] ?? language;
  if (kind === "console") return code.split("\n").map(consoleLine).join("\n");
  const words = WORDS[kind];
  if (words === undefined && kind !== "sh") return escape(code);
  const comment = kind === "ts" ? String.raw`\/\/.*|\/\*[\s\S]*?\*\/` : String.raw`(?<=^|\s)#.*`;
  const text =
    String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'` +
    (kind === "ts" ? "|`(?:[^`\\\\]|\\\\.)*`" : "");
  const key =
    kind === "yaml"
      ? String.raw`[\w.$-]+(?=:(?:\s|$))`
      : String.raw`\b(?:${words ?? "npm|npx|node|curl"})\b`;
  const pattern = new RegExp(`(${comment})|(${text})|(${key})|(\\b\\d[\\d_.]*\\b)`, "gm");
  let html = "";
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const name = ["c", "s", "k", "n"][match.slice(1).findIndex((group) => group !== undefined)];
    html += `${escape(code.slice(end, match.index))}<span class="${name}">${escape(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escape(code.slice(end));
}

/** A command stands out from what it prints. */
function consoleLine(line) {
  return line.startsWith("$ ")
    ? `<span class="k">$</span> <b>${escape(line.slice(2))}</b>`
    : escape(line);
}

export function escape(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
