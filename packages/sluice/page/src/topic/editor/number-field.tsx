import type { JSX } from "preact";
import { Icon } from "../../parts/icon.tsx";

export interface NumberFieldProps {
  readonly id: string;
  readonly label: string;
  readonly unit: string;
  readonly text: string;
  /** The number that the text stands for; undefined for none. */
  readonly value: number | undefined;
  readonly isDirty: boolean;
  readonly isWrong: boolean;
  readonly onText: (text: string) => void;
  /** By so many steps. */
  readonly onStep: (count: number) => void;
  readonly onApply: () => void;
  readonly onDiscard: () => void;
}

/** A number with its steps. Empty stands for no limit. */
export function NumberField(props: NumberFieldProps): JSX.Element {
  const { id, label, unit, text, value, isDirty, isWrong, onText, onStep } = props;
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowUp") onStep(by);
    else if (event.key === "ArrowDown") onStep(-by);
    else if (event.key === "Enter") props.onApply();
    else if (event.key === "Escape") props.onDiscard();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <label for={id}>{label}</label>
      <span class={`step${isDirty ? " dirty" : ""}${isWrong ? " refused" : ""}`}>
        <button type="button" aria-label={`less ${label}`} onClick={() => onStep(-1)}>
          <Icon name="minus" size={12} />
        </button>
        <input
          id={id}
          role="spinbutton"
          inputMode="decimal"
          autoComplete="off"
          placeholder="no limit"
          value={text}
          aria-valuenow={value}
          aria-valuetext={value === undefined ? "no limit" : `${text} ${unit}`}
          aria-invalid={isWrong}
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <span class="u">{unit}</span>
        <button type="button" aria-label={`more ${label}`} onClick={() => onStep(1)}>
          <Icon name="plus" size={12} />
        </button>
      </span>
    </>
  );
}
