import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { wholeText } from "../../words/numbers.ts";

export interface ScrubProps {
  readonly label: string;
  readonly value: number;
  readonly unit: string;
  readonly least: number;
  readonly most: number;
  readonly step: number;
  readonly isDifferent?: boolean;
  readonly onChange: (value: number) => void;
}

/** Pixels of a drag for one step. */
const STEP_PX = 3;

/** A number that is dragged sideways, stepped with the arrow keys, or typed. */
export function Scrub(props: ScrubProps): JSX.Element {
  const { label, value, unit, least, most, step, isDifferent = false, onChange } = props;
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const drag = useRef<{ readonly x: number; readonly from: number; moved: boolean } | undefined>(
    undefined,
  );
  const to = (wanted: number): void => {
    const rounded = Math.round(wanted / step) * step;
    onChange(Math.min(most, Math.max(least, Number(rounded.toFixed(6)))));
  };
  const type = (typedText: string): void => {
    setDraft(undefined);
    const typed = Number(typedText.replaceAll(/[,\s]/g, ""));
    if (typedText.trim() !== "" && Number.isFinite(typed))
      onChange(Math.min(most, Math.max(least, typed)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps = {
      ArrowUp: 1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowLeft: -1,
      PageUp: 10,
      PageDown: -10,
    }[event.key];
    if (steps !== undefined) to(value + steps * step * (event.shiftKey ? 10 : 1));
    else if (event.key === "Home") onChange(least);
    else if (event.key === "End") onChange(most);
    else if (event.key === "Enter") setDraft(text(value));
    else if (/^[0-9.]$/.test(event.key)) setDraft(event.key);
    else return;
    event.preventDefault();
  };
  if (draft !== undefined)
    return (
      <input
        class="scrub-input"
        aria-label={label}
        value={draft}
        inputMode="decimal"
        ref={(input) => input?.focus()}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onBlur={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") type(event.currentTarget.value);
          else if (event.key === "Escape") setDraft(undefined);
        }}
      />
    );
  return (
    <span
      class={`scrub${isDifferent ? " different" : ""}`}
      role="spinbutton"
      tabIndex={0}
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuetext={`${text(value)} ${unit}`}
      onKeyDown={onKeyDown}
      onDblClick={() => setDraft(text(value))}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, from: value, moved: false };
      }}
      onPointerMove={(event) => {
        const { current } = drag;
        if (current === undefined) return;
        const steps = Math.trunc((event.clientX - current.x) / STEP_PX) * (event.shiftKey ? 10 : 1);
        if (steps === 0 && !current.moved) return;
        current.moved = true;
        to(current.from + steps * step);
      }}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onPointerCancel={() => {
        drag.current = undefined;
      }}
    >
      {text(value)}
      <span class="u">{unit}</span>
    </span>
  );
}

function text(value: number): string {
  return Number.isInteger(value) ? wholeText(value) : String(value);
}
