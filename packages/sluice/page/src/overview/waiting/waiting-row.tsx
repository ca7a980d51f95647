import type { JSX } from "preact";
import type { LiveSample, LiveWait } from "../../../../src/live/live-message.ts";
import { limitPath } from "../../api/change-limit.ts";
import { Chip } from "../../parts/chip.tsx";
import { LimitControl, SettingLabel } from "../../parts/limit-control.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import { Words } from "../../parts/words.tsx";
import { durationText, wholeText } from "../../words/numbers.ts";
import { REASON_LOOKS } from "../../words/reasons.ts";
import type { WaitControl } from "../../words/wait/wait-control.ts";
import { waitWords } from "../../words/wait/wait-words.ts";
import { litGate } from "../lit-gate.ts";

interface RowProps {
  readonly wait: LiveWait;
  readonly sample: LiveSample;
  readonly control: WaitControl;
  /** A row above has the control of the same setting. */
  readonly isRepeated: boolean;
  readonly isOver: boolean;
  readonly isPast: boolean;
  readonly onDirty: (isDirty: boolean) => void;
}

export function WaitingRow(props: RowProps): JSX.Element {
  const { wait, sample, isOver } = props;
  const { reason, trouble, lead, more, forMs, until, because } = waitWords(wait, sample);
  const light = (): void => {
    litGate.value = reason === undefined ? undefined : REASON_LOOKS[reason].gate;
  };
  return (
    <div
      class={isOver ? "wait over" : "wait"}
      tabIndex={-1}
      data-row={wait.key}
      data-reason={reason ?? trouble}
      onPointerEnter={light}
      onPointerLeave={dim}
      onFocusIn={light}
      onFocusOut={dim}
    >
      <div>
        <p class="say">
          {reason === undefined ? (
            <StateTag state="error" word={trouble} />
          ) : (
            <Chip reason={reason} />
          )}
          <Words of={lead} /> <span class="t2">{more}</span>
        </p>
        <div class="facts">
          {isOver ? (
            <span>over now</span>
          ) : (
            forMs !== undefined && (
              <span>
                for <b class="num">{durationText(forMs)}</b>
              </span>
            )
          )}
          {!isOver && until !== undefined && (
            <span>
              <Words of={until} />
            </span>
          )}
          {because !== undefined && (
            <span>
              because of <b>{because}</b>
            </span>
          )}
        </div>
      </div>
      <Control {...props} />
    </div>
  );
}

function dim(): void {
  litGate.value = undefined;
}

function Control({ control, isRepeated, isPast, onDirty }: RowProps): JSX.Element {
  if (control.kind === "none")
    return (
      <div class="ctl">
        <span class="label">no setting shortens this</span>
        <div class="hint">{control.text}</div>
      </div>
    );
  if (isRepeated)
    return (
      <div class="ctl">
        <SettingLabel setting={control.setting} />
        <div class="hint">same setting as above</div>
      </div>
    );
  if (control.kind === "note")
    return (
      <div class="ctl">
        <SettingLabel setting={control.setting} />
        <div class="value">{control.text}</div>
        {control.place !== undefined && <div class="hint">{placeText(control.place)}</div>}
      </div>
    );
  const { setting, of, value, unit, step, words, body, effect } = control;
  if (isPast)
    return (
      <div class="ctl">
        <SettingLabel setting={setting} />
        <div class="value num">
          {wholeText(value)}
          {unit}
        </div>
      </div>
    );
  return (
    <LimitControl
      setting={setting}
      of={of}
      value={value}
      unit={unit}
      step={step}
      change={(wanted) => ({ path: limitPath(...words), body: body(wanted) })}
      effect={effect}
      onDirty={onDirty}
    />
  );
}

/** A flow file that came through standard input has no name: `-:37`. */
function placeText(place: string): string {
  return place.replace(/^-:/, "line ");
}
