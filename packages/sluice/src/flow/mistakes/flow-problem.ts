import { placeName } from "@sluice/lab/file";
import type { Path } from "@sluice/lab/file";

/** A mistake of a flow file, as `sluice check --json` prints it. */
export interface FlowProblem {
  readonly file: string;
  readonly line: number;
  /** The key, such as `gateway.limits`; absent if it is the whole file. */
  readonly path?: string;
  /** Both are absent if the sentence says neither. */
  readonly found?: string;
  readonly expected?: string;
  /** The whole line, with its place. */
  readonly message: string;
}

/** The form of the sentences that name what was found and what is expected. */
const FORM = /^(?:is|has) (?<found>[^]*); expected (?<expected>[^]*)$/;

/** `separator` stands between the key and the sentence. */
export function flowProblem(
  { file, line }: { readonly file: string; readonly line: number },
  path: Path,
  sentence: string,
  separator: string = " ",
): FlowProblem {
  return {
    file,
    line,
    ...(path.length > 0 && { path: placeName(path, "") }),
    ...FORM.exec(sentence)?.groups,
    message: `${file}:${line}: ${placeName(path, "the flow file")}${separator}${sentence}`,
  };
}
