import { SECOND_MS } from "@sluice/core/internal";
import { durationText, limitText, perSecondText, shortTopic } from "@sluice/gateway/internal";

interface Rates {
  readonly messages?: number | null;
  readonly bytes?: number | null;
  readonly subscribes?: number | null;
  readonly periodMs?: number;
}

/** A limit as the administration answers it. */
export interface AnsweredLimit extends Rates {
  readonly level: string;
  readonly name?: string;
  /** Of a subscription. */
  readonly topic?: string;
  readonly source: string;
  readonly place?: string;
  readonly setAt?: string;
}

/** The answer of `/api/limits`. */
export interface AnsweredLimits {
  readonly limits?: readonly AnsweredLimit[];
  readonly dispatch?: readonly AnsweredLimit[];
  readonly subscribe?: readonly AnsweredLimit[];
  readonly vertices?: readonly AnsweredVertexLimit[];
}

/** The limits of a vertex. */
export interface AnsweredVertexLimit {
  readonly level: "vertex";
  readonly name: string;
  readonly rateLimit: {
    readonly max?: number;
    readonly min?: number;
    readonly rampUpDuration?: string | number;
  } | null;
  readonly concurrency: number | null;
  readonly readBatchSize: number | null;
  readonly source: string;
  readonly place?: string;
  readonly setAt?: string;
}

interface Changed {
  /** What does not hold as one might think. */
  readonly note?: string;
  readonly from: Rates | null;
  readonly to: Rates | null;
}

/** All limits, or the one of the words that were asked for. */
export function limitLines(
  answer: AnsweredLimits | AnsweredLimit | AnsweredVertexLimit,
): readonly string[] {
  const rows =
    "level" in answer
      ? [isOfVertex(answer) ? vertexRow(answer) : rowOf("", answer)]
      : [
          ...(answer.limits ?? []).map((one) => rowOf("", one)),
          ...(answer.dispatch ?? []).map((one) => rowOf("dispatch ", one)),
          ...(answer.subscribe ?? []).map((one) => rowOf("subscribe ", one)),
          ...(answer.vertices ?? []).map(vertexRow),
        ];
  if (rows.length === 0) return ["no limits are set"];
  return table([["limit of", "is", "set by"], ...rows]);
}

export function changedLine(target: readonly string[], answer: unknown): string {
  const { from, to, note } = answer as Changed;
  const more = note === undefined ? "" : `; ${note}`;
  if (isOfVertex(from) && isOfVertex(to))
    return `the limits of ${target.join(" ")} are now ${vertexText(to)}; they were ${vertexText(from)}${more}`;
  return `the limit of ${target.join(" ")} is now ${ratesText(to)}; it was ${ratesText(from)}`;
}

function isOfVertex(answer: unknown): answer is AnsweredVertexLimit {
  return typeof answer === "object" && answer !== null && "rateLimit" in answer;
}

function vertexRow(one: AnsweredVertexLimit): readonly string[] {
  return [`vertex ${one.name}`, vertexText(one), originText(one)];
}

/** "200/s, from 10/s in 60s; 4 batches at once". */
export function vertexText({ rateLimit, concurrency, readBatchSize }: AnsweredVertexLimit): string {
  const { max, min, rampUpDuration } = rateLimit ?? {};
  const from = min === undefined ? "" : `, from ${perSecondText(min)}`;
  const ramp = rampUpDuration === undefined ? "" : ` in ${rampUpDuration}`;
  const parts = [
    max === undefined ? "no limit" : `${perSecondText(max)}${from}${ramp}`,
    ...(concurrency === null ? [] : [`${concurrency} batches at once`]),
    ...(readBatchSize === null ? [] : [`${readBatchSize} messages a read`]),
  ];
  return parts.join("; ");
}

function rowOf(sort: string, one: AnsweredLimit): readonly string[] {
  return [sort + nameOf(one), ratesText(one), originText(one)];
}

/** "flow.yaml:12", or when and how it was set. */
function originText({
  source,
  place,
  setAt,
}: Pick<AnsweredLimit, "source" | "place" | "setAt">): string {
  if (place !== undefined) return place;
  return setAt === undefined ? source : `${source}, ${setAt}`;
}

function nameOf({ level, name, topic }: AnsweredLimit): string {
  if (name === undefined) return level;
  return topic === undefined
    ? `${level} ${shortTopic(name)}`
    : `${level} ${name} of ${shortTopic(topic)}`;
}

/** Rates per second, or per period if that is another. */
function ratesText(rates: Rates | null): string {
  const { messages, bytes, subscribes, periodMs = SECOND_MS } = rates ?? {};
  if (typeof subscribes === "number")
    return `${subscribes} in ${durationText(periodMs)}, each consumer`;
  const text = limitText({
    ...(typeof messages === "number" && { messages }),
    ...(typeof bytes === "number" && { bytes }),
  });
  return periodMs === SECOND_MS ? text : text.replaceAll("/s", `/${periodMs / SECOND_MS} s`);
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
