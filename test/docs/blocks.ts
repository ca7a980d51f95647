/** The code blocks of all documents, and what is said about them. */
import { filesIn, read } from "../tree.ts";

export interface Block {
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Why the block is not run: `<!-- not run: reason -->` before it. */
  readonly notRun: string | undefined;
}

export const documents: readonly string[] = filesIn().filter((file) => file.endsWith(".md"));

/** Pages that `npm run docs:reference` writes; their signatures and outputs are compared with what is generated. */
export function isGenerated(file: string): boolean {
  return /^docs\/reference\/(api\/.*|cli|flow-file|metrics|reasons-and-errors)\.md$/.test(file);
}

export function blocksOf(file: string): readonly Block[] {
  const text = read(file);
  const fence =
    /(?:^<!-- not run: (?<reason>.+?) -->\n\n)?^(?<indent> *)```(?<language>\S*)\n(?<body>[\s\S]*?)^ *```$/gm;
  return [...text.matchAll(fence)].map((match) => ({
    file,
    line: text.slice(0, match.index).split("\n").length,
    language: match.groups?.["language"] ?? "",
    // A block of a list item is indented.
    text: (match.groups?.["body"] ?? "").replaceAll(
      new RegExp(`^${match.groups?.["indent"] ?? ""}`, "gm"),
      "",
    ),
    notRun: match.groups?.["reason"],
  }));
}

export const blocks: readonly Block[] = documents.flatMap(blocksOf);

/** The name of a file that a block says it is, in its first line: `// calls.mjs` or `# flow.yaml`. */
export function fileNameOf({ text }: Block): string | undefined {
  return /^(?:\/\/|#) ([\w-]+\.(?:mjs|ya?ml))\n/.exec(text)?.[1];
}

/** The commands of a block for a terminal, with what it shows after each. */
export function commandsOf({ language, text }: Block): readonly (readonly [string, string])[] {
  if (language === "sh")
    return text
      .split("\n")
      .filter((line) => line.trim() !== "" && !line.startsWith("#"))
      .map((line) => [withoutComment(line), ""]);
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...shown] = part.split("\n");
      return [withoutComment(command), shown.join("\n").trim()];
    });
}

function withoutComment(command: string): string {
  return command.replace(/\s+#.*$/, "").trim();
}
