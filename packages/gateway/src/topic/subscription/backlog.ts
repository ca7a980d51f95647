import type { TopicLog } from "../../storage/log/topic-log.ts";
import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import type { Cursor } from "../../subscription/cursor/cursor.ts";

/** Entries that are walked through at once when a backlog is skipped or counted. */
const STEPS_PER_TURN = 1_000;

/** Positions that are not acknowledged, in order, as of now; some in each turn of the event loop. */
export async function* backlogOf(
  log: TopicLog,
  cursor: Cursor,
  nextTurn: () => Promise<void>,
): AsyncGenerator<readonly Position[]> {
  const { end } = log;
  const { ackedBefore } = cursor;
  let next = log.next({ ...ackedBefore, entryId: ackedBefore.entryId - 1 });
  while (comparePositions(next, end) < 0) {
    const positions: Position[] = [];
    for (let step = 0; step < STEPS_PER_TURN && comparePositions(next, end) < 0; step++) {
      if (!cursor.isAcked(next)) positions.push(next);
      next = log.next(next);
    }
    yield positions;
    await nextTurn();
  }
}

/** The first position from which on the log has so many bytes at most. */
export function newestWithin(log: TopicLog, bytesMax: number): Position {
  let { ledgerId } = log.end;
  while (ledgerId > 0 && log.sizeBytesFrom({ ledgerId, entryId: 0 }) <= bytesMax) ledgerId--;
  let low = 0;
  let high = (log.previous({ ledgerId: ledgerId + 1, entryId: 0 })?.entryId ?? -1) + 1;
  while (low < high) {
    const entryId = (low + high) >>> 1;
    if (log.sizeBytesFrom({ ledgerId, entryId }) <= bytesMax) high = entryId;
    else low = entryId + 1;
  }
  return log.next({ ledgerId, entryId: low - 1 });
}
