import type { JSX } from "preact";
import type { Field } from "../model/kind.ts";
import type { Side } from "../model/state.ts";
import { choosePreset, copyAToB, preset, setDocument, state, swap } from "../lab-store.ts";
import { Scrub } from "./scrub.tsx";
import { SideBadge } from "./side-badge.tsx";

const SIDES: readonly Side[] = ["a", "b"];

/** The settings of both sides in one table: a number is dragged, a word chosen. */
export function SettingsSection(): JSX.Element {
  const { kind } = state.value;
  return (
    <div class="section">
      <h3>
        Settings <span class="t3">drag a number, use the arrow keys, or type</span>
      </h3>
      <table class="settings">
        <thead>
          <tr>
            <th>
              <span class="sr">setting</span>
            </th>
            {SIDES.map((side) => (
              <th key={side}>
                <SideBadge side={side} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kind.fields.map((field) => (
            <tr key={field.label}>
              <td>{field.label}</td>
              {SIDES.map((side) => (
                <td key={side}>
                  <Setting field={field} side={side} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div class="buttons">
        <button class="btn small" type="button" onClick={swap}>
          Swap A and B
        </button>
        <button class="btn small" type="button" onClick={copyAToB}>
          Copy A to B
        </button>
        <span class="sp" />
        <button
          class="btn small ghost"
          type="button"
          onClick={() => choosePreset(kind, preset.value)}
        >
          Reset
        </button>
      </div>
    </div>
  );
}

function Setting({ field, side }: { readonly field: Field; readonly side: Side }): JSX.Element {
  const document = state.value[side];
  const other = state.value[side === "a" ? "b" : "a"];
  const label = `${field.label}, setting ${side.toUpperCase()}`;
  if (field.isUsed !== undefined && !field.isUsed(document))
    return <span class="t3 unused">–</span>;
  if ("words" in field) {
    const word = field.getWord(document);
    return (
      <select
        aria-label={label}
        value={word}
        onChange={(event) => setDocument(side, field.setWord(document, event.currentTarget.value))}
      >
        {field.words.map((each) => (
          <option key={each} value={each} selected={each === word}>
            {each}
          </option>
        ))}
      </select>
    );
  }
  const value = field.get(document);
  if (value === undefined) return <span class="t3 unused">as in the file</span>;
  return (
    <Scrub
      label={label}
      value={value}
      unit={field.unit}
      least={field.least}
      most={field.most}
      step={field.step}
      isDifferent={side === "b" && field.get(other) !== value}
      onChange={(next) => setDocument(side, field.set(document, next))}
    />
  );
}
