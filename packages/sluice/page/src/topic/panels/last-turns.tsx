import type { JSX } from "preact";
import type { LiveTopicDetail } from "../../../../src/live/live-message.ts";
import { Words } from "../../parts/words.tsx";
import { askedOf } from "../model/prediction.ts";
import { tilesOf, turnWords } from "../model/turn-words.ts";

/** Tiles that are shown: three rows in a narrow panel. */
const SHOWN = 66;

/** The latest turns, in the order in which the desk gave them. */
export function LastTurns({ detail }: { readonly detail: LiveTopicDetail }): JSX.Element {
  const { rows, turns } = detail;
  // The producer that asks for most has the look that stands out.
  const tiles = tilesOf(rows.toSorted((a, b) => askedOf(b) - askedOf(a)).map(({ name }) => name));
  const names = turns.slice(-SHOWN).flatMap((index) => rows[index]?.name ?? []);
  return (
    <section class="panel" aria-labelledby="turns-title">
      <header>
        <h2 id="turns-title">Last turns</h2>
        <span class="sub">deficit round robin, messages and bytes</span>
      </header>
      {names.length > 0 && (
        <div class="turns" aria-hidden="true">
          {names.map((name) => {
            const tile = tiles.get(name);
            return (
              <i class={`look-${tile?.look ?? 0}`} title={name}>
                {tile?.letter}
              </i>
            );
          })}
        </div>
      )}
      <p class="foot">
        <Words of={turnWords(rows, tiles)} />
      </p>
    </section>
  );
}
