import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Icon } from "../../parts/icon.tsx";
import { StateTag } from "../../parts/state-tag.tsx";
import {
  bytesText,
  countedText,
  countText,
  durationText,
  NOT_KNOWN,
  rateText,
} from "../../words/numbers.ts";
import { jain } from "../../words/fair-turns.ts";
import type { LimitView, ProducerView } from "../model/limit-view.ts";
import { askedOf, isSlowed } from "../model/prediction.ts";
import { inOrder, nextOrder } from "../model/producer-order.ts";
import type { ProducerColumn, ProducerOrder } from "../model/producer-order.ts";
import { localName } from "../model/target.ts";

const order = signal<ProducerOrder | undefined>(undefined);

/** Who publishes, what each asks for, gets and waits. */
export function ProducerTable({ view }: { readonly view: LimitView }): JSX.Element {
  const { producers, producersLeftOut } = view;
  const rows = inOrder(producers, order.value);
  const most = Math.max(1, ...producers.map(askedOf));
  const waiting = producers.filter(isSlowed);
  // The even turn is what those get that wait.
  const turn = waiting.length === 0 ? undefined : Math.max(...waiting.map(({ rate }) => rate));
  return (
    <section class="panel" aria-labelledby="producers-title">
      <header>
        <h2 id="producers-title">Producers</h2>
        <span class="sub">{summaryOf(producers, waiting)}</span>
      </header>
      {rows.length === 0 ? (
        <p class="nothing">
          No producer is connected. The first message of one is shown here at once.
        </p>
      ) : (
        <div class="scroll-x">
          <table class="t producers">
            <thead>
              <tr>
                <Head column="producer" />
                <Head column="asks for" isRight isExtra />
                <Head column="gets" isRight />
                <th class="shares" scope="col">
                  share of turns <span class="t3 extra">(tick: an even turn)</span>
                </th>
                <Head column="waits p50" isRight isExtra />
                <Head column="p99" isRight isExtra />
                <Head column="held" isRight isExtra />
                <Head column="notices" isRight isExtra />
                <Head column="receipts" isRight isExtra />
                <Head column="state" isExtra />
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row
                  key={`${row.topic} ${row.name} ${row.address ?? ""}`}
                  row={row}
                  most={most}
                  turn={turn}
                  showsTopic={view.target.kind !== "topic"}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {producersLeftOut > 0 && (
        <p class="nothing">{countedText(producersLeftOut, "producer")} more, that do not wait.</p>
      )}
    </section>
  );
}

function summaryOf(producers: readonly ProducerView[], waiting: readonly ProducerView[]): string {
  const active = producers.filter((one) => askedOf(one) > 0).length;
  if (waiting.length === 0)
    return producers.length === 0 ? "" : `${countText(active)} active, nobody waits`;
  const evenness = jain(waiting.map(({ rate }) => rate));
  return [
    `${countText(waiting.length)} of ${countText(producers.length)} wait`,
    ...(evenness === undefined ? [] : [`evenness among them ${evenness.toFixed(3)} (Jain)`]),
    ...(waiting.every(({ rate }) => rate > 0) ? ["nobody starves"] : []),
  ].join(" · ");
}

function Head({
  column,
  isRight = false,
  isExtra = false,
}: {
  readonly column: ProducerColumn;
  readonly isRight?: boolean;
  readonly isExtra?: boolean;
}): JSX.Element {
  const now = order.value?.column === column ? order.value : undefined;
  return (
    <th
      scope="col"
      class={`${isRight ? "r" : ""}${isExtra ? " extra" : ""}`}
      aria-sort={now === undefined ? "none" : now.isDescending ? "descending" : "ascending"}
    >
      <button
        class={`sort${now === undefined ? "" : now.isDescending ? " down" : " up"}`}
        type="button"
        onClick={() => {
          order.value = nextOrder(order.value, column);
        }}
      >
        {column}
        {now !== undefined && <Icon name="chev" size={9} />}
      </button>
    </th>
  );
}

function Row({
  row,
  most,
  turn,
  showsTopic,
}: {
  readonly row: ProducerView;
  readonly most: number;
  readonly turn: number | undefined;
  readonly showsTopic: boolean;
}): JSX.Element {
  const { name, client, address, isAware, rate, reason, heldFrames, heldBytes } = row;
  const asked = askedOf(row);
  const percent = (value: number): string => `${((value / most) * 100).toFixed(1)}%`;
  // The address is the longest, and the first that a narrow column cuts.
  const from = [
    showsTopic ? localName(row.topic) : undefined,
    client,
    isAware ? "aware" : undefined,
    address,
  ];
  const isAtLeast = reason !== undefined && row.isAskedAtLeast;
  return (
    <tr data-row tabIndex={-1}>
      <td class="who">
        <b>{name}</b>
        <span class="t3">{from.filter((part) => part !== undefined).join(" · ")}</span>
      </td>
      <td class="r num extra">
        {isAtLeast ? "≥ " : ""}
        {rateText(asked)}
      </td>
      <td class="r num strong">{rateText(rate)}</td>
      <td>
        <div
          class="turn-share"
          title={`${rateText(rate)} of ${isAtLeast ? "at least " : ""}${rateText(asked)}`}
        >
          <i class="ask" style={{ width: percent(asked) }} />
          <i style={{ width: percent(rate) }} />
          {turn !== undefined && <u style={{ left: percent(turn) }} />}
        </div>
      </td>
      <td class="r num extra">{waitText(row, row.waitP50Ms)}</td>
      <td class="r num extra">{waitText(row, row.waitP99Ms)}</td>
      <td class="r num extra">
        {countText(heldFrames)}
        {heldFrames > 0 && <span class="t3"> · {bytesText(heldBytes)}</span>}
      </td>
      <td class="r num extra">
        {isAware ? countText(row.notices) : <span class="t3">unaware</span>}
      </td>
      <td class="r num extra">
        {isAware && row.receipts !== undefined ? (
          <>
            {countText(row.receipts)}
            {row.receiptMs !== undefined && (
              <span class="t3"> · {durationText(row.receiptMs)}</span>
            )}
          </>
        ) : (
          <span class="t3">{NOT_KNOWN}</span>
        )}
      </td>
      <td class="extra">
        <Standing row={row} />
      </td>
    </tr>
  );
}

/** A producer whose frames did not wait has waited 0; of a producer that is not measured nothing is said. */
function waitText({ address }: ProducerView, ms: number | undefined): string {
  if (ms !== undefined) return durationText(ms);
  return address === undefined ? NOT_KNOWN : "0 ms";
}

function Standing({
  row: { reason, told, rate, asked },
}: {
  readonly row: ProducerView;
}): JSX.Element {
  if (reason !== undefined || told !== undefined)
    return (
      <StateTag state="throttled" word={told === undefined ? "Frames held" : "Told to wait"} />
    );
  return <StateTag state={rate > 0 || (asked ?? 0) > 0 ? "flowing" : "idle"} />;
}
