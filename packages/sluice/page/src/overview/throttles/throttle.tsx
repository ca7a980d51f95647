import type { ComponentChildren, JSX } from "preact";
import { litGate } from "../lit-gate.ts";

/** One of the five: its number, name and state, a legend with values, and a chart. */
export function Throttle({
  number,
  name,
  state,
  legend,
  children,
}: {
  readonly number: 1 | 2 | 3 | 4 | 5;
  readonly name: string;
  readonly state: ComponentChildren;
  readonly legend: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={litGate.value === number ? "throttle lit" : "throttle"}>
      <h3>
        <span class="no">{number}</span>
        <span class="name">{name}</span>
        <span class="state-slot">{state}</span>
      </h3>
      <div class="legend">{legend}</div>
      {children}
    </div>
  );
}

/** A line of a legend with its value. */
export function Value({
  swatch,
  name,
  value,
  more,
}: {
  readonly swatch?: ComponentChildren;
  readonly name: string;
  readonly value: string;
  /** Absent, not empty: an empty text would be written again with each sample. */
  readonly more?: string | undefined;
}): JSX.Element {
  return (
    <span>
      {swatch}
      {name} <b>{value}</b>
      {more}
    </span>
  );
}
