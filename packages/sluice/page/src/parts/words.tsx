import type { JSX } from "preact";
import type { Phrase } from "../words/phrase.ts";

/** A phrase with its strong words. */
export function Words({ of }: { readonly of: Phrase }): JSX.Element {
  return (
    <>
      {of.map((part) =>
        typeof part === "string" ? part : <b class="strong num-words">{part.strong}</b>,
      )}
    </>
  );
}
