import type { JSX } from "preact";
import type { LiveLimit } from "../../../../src/live/live-message.ts";
import { toast } from "../../frame/toast.tsx";
import type { LimitView } from "../model/limit-view.ts";
import { yamlLines, yamlText } from "../model/yaml-lines.ts";

const SIGNS = { same: " ", gone: "−", new: "+" } as const;
const WORDS = { same: "", gone: "without ", new: "with " } as const;

/** The lines of the flow file, with what would change, to be copied. */
export function YamlDiff({
  target,
  before,
  after,
}: {
  readonly target: LimitView["target"];
  readonly before: LiveLimit | undefined;
  readonly after: LiveLimit | undefined;
}): JSX.Element | null {
  const lines = yamlLines(target, before, after);
  if (lines.length === 0) return null;
  const copy = (): void => {
    navigator.clipboard.writeText(yamlText(lines)).then(
      () => toast("Copied. In the flow file the lines stand below gateway.limits."),
      () => toast("The browser does not allow to copy; mark the lines instead."),
    );
  };
  return (
    <div>
      <div class="yaml" role="group" aria-label="Lines of the flow file">
        {lines.map(({ kind, text }) => (
          <div class={kind}>
            <span aria-hidden="true">{SIGNS[kind]} </span>
            <span class="sr">{WORDS[kind]}</span>
            {text}
          </div>
        ))}
      </div>
      <p class="scope">
        To keep it in the file,{" "}
        <button class="link" type="button" onClick={copy}>
          copy the lines
        </button>{" "}
        to <code>gateway.limits</code>.
      </p>
    </div>
  );
}
