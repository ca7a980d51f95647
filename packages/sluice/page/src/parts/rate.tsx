import type { JSX } from "preact";
import { countText } from "../words/numbers.ts";

/** A large rate with its unit small and grey. */
export function BigRate({ perSecond }: { readonly perSecond: number | undefined }): JSX.Element {
  return (
    <span class="big">
      {countText(perSecond)}
      {perSecond !== undefined && <span class="unit">/s</span>}
    </span>
  );
}
