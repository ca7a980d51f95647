import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { toast } from "../../frame/toast.tsx";
import { Icon } from "../../parts/icon.tsx";
import { importProblem, importText, state, texts } from "../lab-store.ts";
import type { Side } from "../model/state.ts";

/** Characters of a file that is opened: more than the reader takes. */
const FILE_MAX = 1_000_000;

/** The scenario of one side as YAML: to save, to copy, and to replace by another. */
export function ScenarioPanel(): JSX.Element {
  const [side, setSide] = useState<Side>("b");
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const text = texts[side].value;
  const use = (): void => {
    importText(side, draft ?? "");
    if (importProblem.peek() === undefined) setDraft(undefined);
  };
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > FILE_MAX)
      importProblem.value = {
        message: `found a file of ${file.size} bytes; expected at most ${FILE_MAX}`,
      };
    else setDraft(await file.text());
  };
  return (
    <section class="panel" aria-labelledby="scenario-title">
      <header>
        <h2 id="scenario-title">Scenario</h2>
        <span class="sub">sluice simulate</span>
        <span class="sp" />
        <span class="seg" role="group" aria-label="Scenario of">
          {(["a", "b"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === side}
              onClick={() => setSide(each)}
            >
              {each.toUpperCase()}
            </button>
          ))}
        </span>
        {draft === undefined && (
          <>
            <button
              class="btn small"
              type="button"
              onClick={() => void copy(text, "The scenario is copied.")}
            >
              Copy
            </button>
            <button
              class="btn small"
              type="button"
              onClick={() => save(text, `${state.peek().kind.id}-${side}.yaml`)}
            >
              <Icon name="down" size={12} />
              Save .yaml
            </button>
          </>
        )}
      </header>
      {draft === undefined ? (
        <>
          <pre class="yaml" tabIndex={0} aria-label={`Scenario of ${side.toUpperCase()}`}>
            <Yaml text={text} other={texts[side === "a" ? "b" : "a"].value} />
          </pre>
          <p class="lab-import">
            <button class="btn small ghost" type="button" onClick={() => setDraft(text)}>
              Edit or paste
            </button>
            <label class="btn small ghost">
              Open a .yaml file
              <input
                class="sr"
                type="file"
                accept=".yaml,.yml,.json"
                onChange={(event) => void open(event.currentTarget.files?.[0])}
              />
            </label>
          </p>
        </>
      ) : (
        <div class="lab-edit">
          <textarea
            class="yaml"
            aria-label={`Scenario for ${side.toUpperCase()}`}
            spellcheck={false}
            rows={12}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
          <p class="lab-import">
            <button class="btn small primary" type="button" onClick={use}>
              Use as {side.toUpperCase()}
            </button>
            <button
              class="btn small ghost"
              type="button"
              onClick={() => {
                importProblem.value = undefined;
                setDraft(undefined);
              }}
            >
              Discard
            </button>
          </p>
        </div>
      )}
      {importProblem.value !== undefined && (
        <p class="lab-problem" role="alert">
          <b>
            {importProblem.value.line === undefined
              ? "Not taken:"
              : `Line ${importProblem.value.line}:`}
          </b>{" "}
          {importProblem.value.message}. The last good run stays.
        </p>
      )}
    </section>
  );
}

/** Keys in grey, lines that the other side does not have marked. */
function Yaml({ text, other }: { readonly text: string; readonly other: string }): JSX.Element {
  const others = new Set(other.split("\n"));
  return (
    <>
      {text.split("\n").map((line, index) => {
        const found = /^(\s*(?:- )?)([\w"[\].-]+:)(.*)$/.exec(line);
        const isOwn = !others.has(line) && !line.startsWith("title:");
        const content =
          found === null ? (
            line
          ) : (
            <>
              {found[1]}
              <span class="key">{found[2]}</span>
              {found[3]}
            </>
          );
        return (
          <span key={index} class={isOwn ? "own" : undefined}>
            {content}
            {"\n"}
          </span>
        );
      })}
    </>
  );
}

export async function copy(text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast("The browser does not allow copying here: mark the text and copy it by hand.");
  }
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
