import type { ProducerView } from "./limit-view.ts";
import { askedOf } from "./prediction.ts";

/** Columns of the table that can be sorted by. */
export type ProducerColumn =
  | "producer"
  | "asks for"
  | "gets"
  | "waits p50"
  | "p99"
  | "held"
  | "notices"
  | "receipts"
  | "state";

export interface ProducerOrder {
  readonly column: ProducerColumn;
  readonly isDescending: boolean;
}

const KEYS: Readonly<Record<ProducerColumn, (row: ProducerView) => number | string>> = {
  producer: ({ name }) => name,
  "asks for": askedOf,
  gets: ({ rate }) => rate,
  "waits p50": ({ waitP50Ms }) => waitP50Ms ?? -1,
  p99: ({ waitP99Ms }) => waitP99Ms ?? -1,
  held: ({ heldBytes }) => heldBytes,
  notices: ({ notices, isAware }) => (isAware ? (notices ?? 0) : -1),
  receipts: ({ receipts, isAware }) => (isAware ? (receipts ?? 0) : -1),
  state: ({ reason }) => reason ?? "",
};

/** Numbers begin with the largest, names with the first letter; a second press turns them round. */
export function nextOrder(order: ProducerOrder | undefined, column: ProducerColumn): ProducerOrder {
  const isText = column === "producer";
  return order?.column === column
    ? { column, isDescending: !order.isDescending }
    : { column, isDescending: !isText };
}

/** Without an order by name: rows keep their place while rates change. */
export function inOrder(
  rows: readonly ProducerView[],
  order: ProducerOrder | undefined,
): readonly ProducerView[] {
  const { column, isDescending } = order ?? { column: "producer", isDescending: false };
  const key = KEYS[column];
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(key(a), key(b)) || a.name.localeCompare(b.name));
}

function compare(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b));
}
