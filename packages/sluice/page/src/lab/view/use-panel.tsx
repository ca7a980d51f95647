import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { changeLimit, undoLimit } from "../../api/change-limit.ts";
import { toast } from "../../frame/toast.tsx";
import { askForToken } from "../../frame/token.ts";
import { canChange, isOpen, latest } from "../../live/live-store.ts";
import { Icon } from "../../parts/icon.tsx";
import { countedText } from "../../words/numbers.ts";
import { state } from "../lab-store.ts";
import { packState } from "../model/link.ts";
import { differences } from "../model/state.ts";
import { usable } from "../model/use.ts";
import type { Usable } from "../model/use.ts";
import { copy } from "./scenario-panel.tsx";

/** A link to these settings, and B put into force in the flow that runs. */
export function UsePanel(): JSX.Element {
  const link = useSignal<string | undefined>(undefined);
  const { value } = state;
  useEffect(() => {
    let isCurrent = true;
    const pack = async (): Promise<void> => {
      const packed = await packState(value);
      if (isCurrent)
        link.value = packed === undefined ? undefined : `${location.origin}/lab#${packed}`;
    };
    void pack();
    return () => {
      isCurrent = false;
    };
  }, [value]);
  return (
    <section class="panel" aria-labelledby="use-title">
      <header>
        <h2 id="use-title">Use it</h2>
      </header>
      <div class="lab-use">
        <p class="t2">
          A link to this page with both settings and the traffic in it. Nothing is stored anywhere.
        </p>
        {link.value === undefined ? (
          <p class="t3">The scenarios are too long for a link: save them instead.</p>
        ) : (
          <div class="lab-link">
            <span>{link.value}</span>
            <button
              class="btn small ghost"
              type="button"
              onClick={() => void copy(link.peek() ?? "", "The link is copied.")}
            >
              <Icon name="link" size={12} />
              Copy
            </button>
          </div>
        )}
        <p class="t2">Or put B into force in the flow that runs here.</p>
        <Force />
      </div>
    </section>
  );
}

function Force(): JSX.Element {
  const asked = useSignal<Usable | undefined>(undefined);
  const refusal = useSignal<string | undefined>(undefined);
  const found = usable(state.value, isOpen.value ? latest.value : undefined);
  if (typeof found === "string") return <p class="t3">{found}</p>;
  const apply = async (use: Usable): Promise<void> => {
    asked.value = undefined;
    const result = await changeLimit(use.change);
    if (result.kind === "applied") {
      const { undo } = result;
      toast(`${use.of} now has ${use.text}.`, () => void undoLimit(use.change, undo));
    } else if (result.kind === "read only") askForToken();
    else refusal.value = `${result.message}. Nothing has changed.`;
  };
  if (asked.value !== undefined) {
    const use = asked.value;
    return (
      <div class="lab-ask" role="alertdialog" aria-label="Put B into force">
        <p>
          Set <b>{use.text}</b> for <b>{use.of}</b> now, in the whole fleet?
        </p>
        <button class="btn primary" type="button" onClick={() => void apply(use)}>
          Set it
        </button>
        <button class="btn ghost" type="button" onClick={() => (asked.value = undefined)}>
          Leave it
        </button>
      </div>
    );
  }
  const count = differences(state.value).length;
  return (
    <div class="lab-force">
      <button
        class="btn primary"
        type="button"
        onClick={() => {
          refusal.value = undefined;
          if (canChange.value) asked.value = found;
          else askForToken();
        }}
      >
        Use B for {found.of}
      </button>
      <span class="t3">
        {canChange.value
          ? `B differs from A in ${countedText(count, "setting")}; asks before it changes anything`
          : "read only: give a token to change limits"}
      </span>
      {refusal.value !== undefined && (
        <p class="lab-problem" role="alert">
          {refusal.value}
        </p>
      )}
    </div>
  );
}
