import type { LiveChange } from "./live-message.ts";

/** Lines of "What changed". Raised, a page takes longer to open. */
const LINES_MAX = 50;

/**
 * The lines with a change, newest first. A change of a series takes the place of the line of its series: an aware producer is
 * told to wait several times a second, which would push all other lines out.
 */
export function foldChange(
  lines: readonly LiveChange[],
  change: LiveChange,
): readonly LiveChange[] {
  const { series } = change;
  const before = series === undefined ? undefined : lines.find((line) => line.series === series);
  const folded =
    before === undefined
      ? change
      : { ...change, times: (before.times ?? 1) + 1, sinceMs: before.sinceMs ?? before.atMs };
  return [folded, ...lines.filter((line) => line !== before)].slice(0, LINES_MAX);
}
