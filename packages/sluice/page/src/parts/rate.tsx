import type { JSX } from "preact";
import { countText } from "../words/numbers.ts";
import { still } from "./still.ts";

/** A large rate with its unit small and grey. */
export const BigRate = still(function BigRate({
  perSecond,
}: {
  readonly perSecond: number | undefined;
}): JSX.Element {
  return (
    <span class="big">
      {countText(perSecond)}
      {perSecond !== undefined && <span class="unit">/s</span>}
    </span>
  );
});
