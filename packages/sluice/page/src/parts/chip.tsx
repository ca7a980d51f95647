import type { Reason } from "@sluice/core";
import type { JSX } from "preact";
import { REASON_LOOKS } from "../words/reasons.ts";
import { Icon } from "./icon.tsx";
import { STATE_WORDS } from "./state-tag.tsx";
import type { FlowState } from "./state-tag.tsx";
import { still } from "./still.ts";

/** A reason: its glyph in its colour, and its name. */
export const Chip = still(function Chip({
  reason,
  small = false,
}: {
  readonly reason: Reason;
  readonly small?: boolean;
}): JSX.Element {
  const { family, color } = REASON_LOOKS[reason];
  return (
    <span class={small ? "chip small" : "chip"}>
      <Icon name={family} size={small ? 12 : 14} class={`ink-${color}`} />
      {reason}
    </span>
  );
});

/** The reason that a gate has, with the state as a shape and, for screen readers, as a word. */
export const GateChip = still(function GateChip({
  state,
  reason,
}: {
  readonly state: FlowState;
  readonly reason: Reason;
}): JSX.Element {
  return (
    <span class="gate-chip">
      <span class={`state ${state}`} title={STATE_WORDS[state]}>
        <Icon name={state === "lost" ? "store-lost" : state} size={13} />
        <span class="sr">{STATE_WORDS[state]}</span>
      </span>
      <Chip reason={reason} small />
    </span>
  );
});
