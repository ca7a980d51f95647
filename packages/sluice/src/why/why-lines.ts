import type { Why, WhyAnswer, WhyPaused, WhySetting } from "@sluice/gateway/admin";
import {
  bytesText,
  countText,
  durationText,
  limitText,
  perSecondText,
  shortTopic,
} from "@sluice/gateway/internal";
import type {
  PipelinesWhy,
  WhyFailed,
  WhyVertex,
  WhyWorking,
} from "../pipelines/admin/vertex-why.ts";
import { adviceLines, enoughOf, headlineOf } from "./advice.ts";
import { placeText } from "./place-text.ts";
import { pausedSentence, sentenceOf, untilOf } from "./sentences.ts";
import {
  failedSentence,
  vertexSentence,
  vertexSetting,
  vertexTry,
  vertexUntil,
  workingSentence,
  workingUntil,
  workingWord,
} from "./vertex-sentences.ts";
import { shellWord } from "./shell-word.ts";
import { wrapped } from "./wrapped.ts";
import { counted } from "./counted.ts";
import { cut } from "./cut.ts";

const WIDTH = 100;
const LABEL = 12;
const INDENT = 5;
/** Topics of one row. */
const TOPICS_MAX = 3;

/** Characters of a producer's name in a table. Its client chooses up to 4,000; raised, other columns are pushed out of the screen. */
const NAME_MAX = 40;

/** The answer of `/api/why`, with what pipelines add to it. */
export interface WholeWhy extends WhyAnswer {
  readonly pipelines?: PipelinesWhy | undefined;
}

export interface WhyLinesOptions {
  /** Characters of a line; commands to copy may be longer. Default: 100. */
  readonly width?: number;
  /** Where the dashboard answers; absent: it is not mentioned. */
  readonly url?: string;
}

/** The answer of `/api/why` for people; `name` is what was asked for. */
export function* whyLines(
  answer: WholeWhy,
  name: string | undefined,
  { width = WIDTH, url }: WhyLinesOptions = {},
): Generator<string> {
  const { waiting, paused, pipelines } = answer;
  const { vertices = [], working = [], failed = [] } = pipelines ?? {};
  const ofGateway = waiting.length + paused.length;
  const ofPipelines = vertices.length + working.length + failed.length;
  if (ofGateway === 0 && ofPipelines === 0) {
    yield name === undefined ? "Nothing waits." : `Nothing waits at ${name}.`;
    return;
  }
  if (name !== undefined && waiting.length === 0 && ofPipelines === 0)
    yield `No producer of ${name} waits for a limit.`;
  const headline = name === undefined ? undefined : headlineOf(answer, name);
  if (headline !== undefined) {
    yield headline;
    yield "";
  }
  yield* parted([
    ...failed.map((one) => () => failedLines(one, width)),
    ...waiting.map((one) => () => reasonLines(one, width)),
    ...pausedRows(paused).map((connections) => () => pausedLines(connections, width)),
  ]);
  if (vertices.length + working.length > 0) {
    if (ofGateway + failed.length > 0) yield "";
    if (ofGateway > 0) {
      yield name === undefined
        ? "Further along, pipelines wait:"
        : `Further along, what comes from ${name} also waits here:`;
      yield "";
    }
    const isQualified = new Set([...vertices, ...working].map(({ pipeline }) => pipeline)).size > 1;
    yield* parted([
      ...working.map((one) => () => workingLines(named(one, isQualified), width)),
      ...vertices.map((one) => () => vertexLines(one, { isQualified, width })),
    ]);
  }
  yield "";
  yield* adviceLines(answer, name, { width, url });
}

/** The name with that of its pipeline where several pipelines are shown. */
function named<W extends WhyVertex | WhyWorking>(why: W, isQualified: boolean): W {
  return isQualified ? { ...why, vertex: `${why.pipeline}/${why.vertex}` } : why;
}

function* workingLines(why: WhyWorking, width: number): Generator<string> {
  const { failure, since, setting } = why;
  yield* leadLines(workingWord(why), workingSentence(why), width);
  yield* factLines("since", [clockTime(since)]);
  yield* factLines("until", [workingUntil(why)]);
  if (setting === undefined || failure !== undefined) return;
  const { path, value, place } = setting;
  yield* factLines("setting", [
    `${path} = ${String(value)}${place === undefined ? "" : `   ${placeText(place)}`}`,
  ]);
}

/** Blocks of lines with an empty one between them. */
function* parted(blocks: readonly (() => Generator<string>)[]): Generator<string> {
  for (const [index, block] of blocks.entries()) {
    if (index > 0) yield "";
    yield* block();
  }
}

function* vertexLines(
  why: WhyVertex,
  { isQualified, width }: { readonly isQualified: boolean; readonly width: number },
): Generator<string> {
  yield* leadLines(why.reason, vertexSentence(named(why, isQualified)), width);
  yield* factLines("since", [`${clockTime(why.since)}, for ${durationText(why.forMs)}`]);
  yield* factLines("until", [vertexUntil(why)], width);
  yield* factLines("setting", [vertexSetting(why)], width);
  yield* factLines("try", [vertexTry(why)]);
}

function* failedLines(failed: WhyFailed, width: number): Generator<string> {
  yield* leadLines("failed", failedSentence(failed), width);
  yield* factLines("since", [clockTime(failed.since)]);
  yield* factLines("until", [`the next start, in ${durationText(failed.nextInMs)}`]);
}

/** One row for each connection; one for all that wait for memory. */
function pausedRows(paused: readonly WhyPaused[]): readonly (readonly WhyPaused[])[] {
  const ofMemory = paused.filter(({ reason }) => reason === "memory");
  const others = paused.filter(({ reason }) => reason !== "memory").map((one) => [one]);
  return ofMemory.length === 0 ? others : [ofMemory, ...others];
}

function* pausedLines(connections: readonly WhyPaused[], width: number): Generator<string> {
  const oldest = connections.toSorted((a, b) => b.forMs - a.forMs)[0];
  if (oldest === undefined) return;
  const { reason, since, forMs, setting } = oldest;
  yield* leadLines(reason, pausedSentence(connections), width);
  yield* factLines("since", [`${clockTime(since)}, for ${durationText(forMs)}`]);
  const topics = connections.flatMap(({ becauseOfTopic: topic }) =>
    topic === undefined ? [] : [shortTopic(topic)],
  );
  yield* factLines("because of", [...new Set(topics)].slice(0, TOPICS_MAX));
  yield* factLines("setting", [setting.path + originText(setting)]);
}

function* leadLines(reason: string, sentence: string, width: number): Generator<string> {
  const lead = `  ▥ ${reason.padEnd(LABEL)} `;
  const lines = wrapped(sentence, width - lead.length);
  for (const [index, line] of lines.entries())
    yield index === 0 ? lead + line : " ".repeat(lead.length) + line;
}

function* reasonLines(why: Why, width: number): Generator<string> {
  yield* leadLines(why.reason, sentenceOf(why), width);
  yield* factLines("since", [`${clockTime(why.since)}, for ${durationText(why.forMs)}`]);
  yield* factLines("until", [untilOf(why)], width);
  yield* factLines("because of", [why.becauseOf?.producer]);
  yield* factLines("waiting", waitingRows(why));
  yield* factLines("not waiting", quietRows(why));
  yield* factLines("setting", [settingText(why)], width);
  const command = tryText(why);
  const then = why.others === 0 ? "   # then none of them waits" : "";
  yield* factLines("try", [command && command + then]);
}

/** Values longer than `width` go on in the next line; without it, such as commands to copy, they stay whole. */
function* factLines(
  label: string,
  values: readonly (string | undefined)[],
  width = Number.POSITIVE_INFINITY,
): Generator<string> {
  const known = values.filter((value) => value !== undefined);
  const lines = known.flatMap((value) => wrapped(value, width - INDENT - LABEL));
  for (const [index, line] of lines.entries())
    yield " ".repeat(INDENT) + (index === 0 ? label : "").padEnd(LABEL) + line.trim();
}

function waitingRows({ producers, others }: Why): readonly string[] {
  const width = widthOf(producers);
  const rows = producers.map(({ name: whole, isAware, heldFrames, heldBytes, told }) => {
    const facts = [
      ...(heldFrames > 0 ? [`${counted(heldFrames, "frame")} held, ${bytesText(heldBytes)}`] : []),
      ...(told === undefined
        ? []
        : [`told to wait ${durationText(told.pauseMs)}${receiptText(told)}`]),
    ];
    const name = cut(whole, NAME_MAX);
    return `${name.padEnd(width)}  ${isAware ? "aware  " : "unaware"}  ${facts.join("; ")}`.trimEnd();
  });
  return others > 0 ? [...rows, `and ${countText(others)} others`] : rows;
}

function widthOf(producers: readonly { readonly name: string }[]): number {
  return Math.max(0, ...producers.map(({ name }) => Math.min(NAME_MAX, name.length)));
}

function receiptText({ receiptAfterMs }: { readonly receiptAfterMs?: number | undefined }): string {
  return receiptAfterMs === undefined ? "" : `, receipt after ${durationText(receiptAfterMs)}`;
}

function quietRows({ notWaiting = [], turn }: Why): readonly string[] {
  const width = widthOf(notWaiting);
  return notWaiting.map(({ name: whole, asked }) => {
    const name = cut(whole, NAME_MAX);
    if (asked === undefined) return name;
    const less = turn !== undefined && asked < turn ? ", less than a turn" : "";
    return `${name.padEnd(width)}  publishes ${perSecondText(asked)}${less}`;
  });
}

function settingText({ setting, limit }: Why): string {
  return `${setting.path} = ${limitText(limit)}${originText(setting)}`;
}

/** The line of the flow file, or when the setting was changed. */
function originText({ source, place, setAt }: WhySetting): string {
  if (place !== undefined) return `   ${placeText(place)}`;
  if (source === undefined || source === "flow file") return "";
  return `   set by REST or pulsar-admin${setAt === undefined ? "" : ` at ${setAt}`}`;
}

/** The command that lets all of them through; undefined if what they ask is not known. */
export function tryText(why: Why): string | undefined {
  const enough = enoughOf(why);
  if (enough === undefined) return undefined;
  const { target } = why.setting;
  const whose =
    "name" in target ? `${target.level} ${shellWord(shortTopic(target.name))}` : target.level;
  return `sluice limits set ${whose} messages=${enough}/s`;
}

/** Local time. */
function clockTime(iso: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  return format.format(Date.parse(iso));
}
