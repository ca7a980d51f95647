import type { Phrase } from "../../words/phrase.ts";
import { namesText, strong } from "../../words/phrase.ts";
import type { ProducerView } from "./limit-view.ts";
import { isSlowed } from "./prediction.ts";

/** A producer in the row of turns: a letter that no other has, and how its tile looks. */
export interface TurnTile {
  readonly letter: string;
  readonly name: string;
  readonly look: number;
}

/** Looks that can be told apart; further producers share the last. */
const TILE_LOOKS = 6;
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/** The first letter of each name, or one that is still free. */
export function tilesOf(names: readonly string[]): ReadonlyMap<string, TurnTile> {
  const tiles = new Map<string, TurnTile>();
  const taken = new Set<string>();
  for (const name of names) {
    if (tiles.has(name)) continue;
    const letter =
      `${name.toLowerCase()}${LETTERS}`
        .split("")
        .find((one) => LETTERS.includes(one) && !taken.has(one)) ?? "·";
    taken.add(letter);
    tiles.set(name, { letter, name, look: Math.min(TILE_LOOKS - 1, tiles.size) });
  }
  return tiles;
}

/** Who takes turns, and who goes first because it asks for less than one. */
export function turnWords(
  producers: readonly ProducerView[],
  tiles: ReadonlyMap<string, TurnTile>,
): Phrase {
  const waiting = producers.filter(isSlowed);
  if (waiting.length === 0) return ["Nobody waits, so everyone goes as they come."];
  const free = producers.filter((one) => !isSlowed(one) && one.rate > 0);
  const named = (all: readonly ProducerView[]): string =>
    namesText(all.map(({ name }) => `${tiles.get(name)?.letter ?? ""} ${name}`.trim()));
  const one = waiting.length === 1;
  return [
    strong(named(waiting)),
    one ? " waits for each turn" : " take turns",
    ...(free.length === 0
      ? ["."]
      : [
          "; ",
          strong(named(free)),
          free.length === 1
            ? " asks for less than a turn and goes first."
            : " ask for less than a turn and go first.",
        ]),
  ];
}
