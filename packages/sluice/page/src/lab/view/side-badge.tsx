import type { JSX } from "preact";
import type { Side } from "../model/state.ts";

/** A is a blue square, B a violet circle: shape and letter say it without the colour. */
export function SideBadge({ side }: { readonly side: Side }): JSX.Element {
  return <span class={`side-badge ${side}`}>{side.toUpperCase()}</span>;
}
