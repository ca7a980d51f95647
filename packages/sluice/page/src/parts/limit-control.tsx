import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { changeLimit } from "../api/change-limit.ts";
import type { LimitChange } from "../api/change-limit.ts";
import { askForToken } from "../frame/token.ts";
import { toast } from "../frame/toast.tsx";
import { canChange, isOpen } from "../live/live-store.ts";
import { wholeText } from "../words/numbers.ts";
import { Icon } from "./icon.tsx";
import { takeBack } from "./take-back.ts";

export interface LimitControlProps {
  /** The key of the flow file, whole; its last words are the label. */
  readonly setting: string;
  /** What is limited, for the toast: "orders". */
  readonly of: string;
  readonly value: number;
  /** "/s", "MB", or nothing. */
  readonly unit: string;
  readonly step: number;
  readonly least?: number;
  readonly change: (value: number) => LimitChange;
  /** What a value would do, in words; undefined if that cannot be known. */
  readonly effect: (value: number) => string | undefined;
  /** Called when a value is typed that is not applied, and when it is applied or discarded. */
  readonly onDirty?: (isDirty: boolean) => void;
}

type Phase = "idle" | "applying" | { readonly refused: string };

/**
 * A number that can be changed where it is seen: clean, dirty with its effect in words, applying, refused or read
 * only. What was typed survives a refusal and a lost token.
 */
export function LimitControl(props: LimitControlProps): JSX.Element {
  const { setting, value, unit, step, least = 1 } = props;
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const [phase, setPhase] = useState<Phase>("idle");
  const wanted = draft === undefined ? value : numberOf(draft);
  const isDirty = draft !== undefined && wanted !== value;
  const isLocked = !canChange.value || !isOpen.value;

  useEffect(() => props.onDirty?.(isDirty), [isDirty]);

  const edit = (text: string): void => {
    setDraft(text);
    setPhase("idle");
  };
  const stepBy = (count: number): void =>
    edit(wholeText(Math.max(least, (wanted ?? value) + count * step)));
  const discard = (): void => {
    setDraft(undefined);
    setPhase("idle");
  };
  const apply = async (): Promise<void> => {
    if (!isDirty || wanted === undefined || isLocked || phase === "applying") return;
    setPhase("applying");
    const refused = await applied(props, wanted);
    if (refused === undefined) discard();
    else setPhase(refused === "" ? "idle" : { refused });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowUp") stepBy(by);
    else if (event.key === "ArrowDown") stepBy(-by);
    else if (event.key === "Enter") void apply();
    else if (event.key === "Escape") {
      discard();
      if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isRefused = typeof phase === "object";
  return (
    <div class="ctl">
      <SettingLabel setting={setting} />
      <div class="row">
        <span class={`step${isDirty ? " dirty" : ""}${isRefused ? " refused" : ""}`}>
          <button type="button" aria-label="less" disabled={isLocked} onClick={() => stepBy(-1)}>
            <Icon name="minus" size={12} />
          </button>
          <input
            role="spinbutton"
            aria-label={setting}
            aria-valuenow={wanted ?? value}
            aria-valuemin={least}
            aria-valuetext={`${wholeText(wanted ?? value)}${unit}`}
            aria-invalid={wanted === undefined || isRefused}
            inputMode="numeric"
            readOnly={isLocked}
            value={draft ?? wholeText(value)}
            onInput={(event) => edit(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          <span class="u">{unit}</span>
          <button type="button" aria-label="more" disabled={isLocked} onClick={() => stepBy(1)}>
            <Icon name="plus" size={12} />
          </button>
        </span>
        {isDirty && (
          <button
            class="btn primary"
            type="button"
            disabled={wanted === undefined || isLocked || phase === "applying"}
            onClick={() => void apply()}
          >
            {phase === "applying" ? "Applying" : "Apply"}
          </button>
        )}
      </div>
      <Effect {...props} phase={phase} wanted={wanted} isDirty={isDirty} />
    </div>
  );
}

/** The last two words of a setting, the whole of it on hover. */
export function SettingLabel({ setting }: { readonly setting: string }): JSX.Element {
  return (
    <span class="label" title={setting}>
      <code>{shortSetting(setting)}</code>
    </span>
  );
}

/** `gateway.limits.topics."public/default/orders".messages` is `orders.messages`. */
function shortSetting(setting: string): string {
  const words = setting.match(/"[^"]*"|[^.]+/g) ?? [setting];
  return words
    .slice(-2)
    .map((word) => word.replaceAll('"', "").split("/").at(-1) ?? word)
    .join(".");
}

function Effect({
  effect,
  phase,
  wanted,
  isDirty,
}: LimitControlProps & {
  readonly phase: Phase;
  readonly wanted: number | undefined;
  readonly isDirty: boolean;
}): JSX.Element | null {
  if (typeof phase === "object")
    return (
      <div class="effect wrong" role="alert">
        Refused: {phase.refused}. Nothing has changed.
      </div>
    );
  if (wanted === undefined)
    return <div class="effect wrong">Expected a whole number, such as 1,000.</div>;
  if (!isOpen.value) return <div class="hint">not connected</div>;
  if (!canChange.value)
    return (
      <div class="hint">
        <button type="button" onClick={askForToken}>
          give a token
        </button>{" "}
        to change it
      </div>
    );
  const text = isDirty ? effect(wanted) : undefined;
  return text === undefined ? null : (
    <div class="effect" role="status">
      {text}
    </div>
  );
}

/** Undefined once it is applied; the sentence of a refusal; empty without a token. */
async function applied(props: LimitControlProps, wanted: number): Promise<string | undefined> {
  const { of, value, unit, change } = props;
  const wantedChange = change(wanted);
  const result = await changeLimit(wantedChange);
  if (result.kind === "read only") {
    askForToken();
    return "";
  }
  if (result.kind === "refused") return result.message.replace(/\.$/, "");
  const { undo, note } = result;
  const says = `${of} is ${wholeText(wanted)}${unit} now${note === undefined ? "" : ` (${note})`}. It was ${wholeText(value)}${unit}.`;
  toast(
    says,
    () => void takeBack(wantedChange, undo, `${of} is ${wholeText(value)}${unit} again.`),
  );
  return undefined;
}

function numberOf(text: string): number | undefined {
  const digits = text.replaceAll(/[,\s]/g, "");
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}
