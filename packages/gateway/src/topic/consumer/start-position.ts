import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import type { TopicLog } from "../../storage/log/topic-log.ts";
import type { SeekPoint } from "./consumer-handle.ts";

/** The position of the first entry that is to be read. Nothing starts beyond what is stored. */
export async function startPosition(log: TopicLog, point: SeekPoint): Promise<Position> {
  switch (point.kind) {
    case "earliest":
      return log.first;
    case "latest":
      return log.end;
    case "at":
      return within(log, point.position);
    case "time":
      return log.positionAtTime(point.atMs);
  }
}

function within({ first, end }: TopicLog, position: Position): Position {
  if (comparePositions(position, first) < 0) return first;
  return comparePositions(position, end) > 0 ? end : position;
}
