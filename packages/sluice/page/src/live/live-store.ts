import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { systemClock, systemTimer } from "@sluice/core/system";
import type {
  LiveChange,
  LiveHello,
  LivePoolDetail,
  LivePoolPast,
  LiveSample,
  LiveTopicDetail,
} from "../../../src/live/live-message.ts";
import { foldChange } from "../../../src/live/fold-changes.ts";
import { SAMPLE_FORMAT, unpackSample } from "../../../src/live/packed-sample.ts";
import { History } from "./history.ts";
import { LiveStream } from "./live-stream.ts";
import type { LiveEvent, StreamState } from "./live-stream.ts";

/** Entries of a pool's past: more than the server keeps. */
const POOL_PAST_MAX = 4_000;
const SECOND_MS = 1_000;
/** A page that has heard nothing for longer says so, ms. */
export const LOST_AFTER_MS = 3_000;

const history = new History();
const version = signal(0);
const token = signal<string | undefined>(undefined);
const detail = signal<{ readonly topic?: string; readonly pool?: string }>({});
const heardAtMs = signal<number | undefined>(undefined);
const stream = signal<StreamState>({ kind: "connecting" });

export const hello = signal<LiveHello | undefined>(undefined);
export const changes = signal<readonly LiveChange[]>([]);
/** Of the topic or pool that `watch` has asked for; undefined until it has come. */
export const topicDetail = signal<LiveTopicDetail | undefined>(undefined);
export const poolDetail = signal<LivePoolDetail | undefined>(undefined);
/** What the members of the watched pool held in the last 15 minutes, oldest first. */
export const poolPast = signal<readonly LivePoolPast[]>([]);

/** The samples of the last five minutes, oldest first. The array is another one after each sample. */
export const samples: ReadonlySignal<readonly LiveSample[]> = computed(() => {
  void version.value;
  return [...history.samples];
});
export const latest: ReadonlySignal<LiveSample | undefined> = computed(() => samples.value.at(-1));
/**
 * Two signals that change once a second, with different samples. A chart of five minutes moves by less than a pixel with
 * one sample: half of the charts are drawn with one, the other half with the next.
 */
export const seconds: readonly [ReadonlySignal<number>, ReadonlySignal<number>] = [
  computed(() => Math.floor((latest.value?.atMs ?? 0) / SECOND_MS)),
  computed(() => Math.round((latest.value?.atMs ?? 0) / SECOND_MS)),
];

/** The instant under the pointer, in all charts; wall time of the server. */
export const cursorAtMs = signal<number | undefined>(undefined);
/** The instant that the whole page shows; undefined while it is live. */
export const pinnedAtMs = signal<number | undefined>(undefined);

/** What the page shows: the pinned instant, else the latest sample. */
export const shown: ReadonlySignal<LiveSample | undefined> = computed(() => {
  const pinned = pinnedAtMs.value;
  if (pinned === undefined) return latest.value;
  void version.value;
  return history.at(pinned);
});
/** What charts' values are of: the instant under the cursor, else what is shown. */
export const peeked: ReadonlySignal<LiveSample | undefined> = computed(() => {
  const cursor = cursorAtMs.value;
  if (cursor === undefined || pinnedAtMs.value !== undefined) return shown.value;
  void version.value;
  return history.at(cursor);
});

export const connection: ReadonlySignal<StreamState> = stream;
/** When the last message came, of `systemClock`; undefined before the first. */
export const lastHeardAtMs: ReadonlySignal<number | undefined> = heardAtMs;

/** Whether a change would be accepted, as far as the page knows. */
export const canChange: ReadonlySignal<boolean> = computed(() => hello.value?.canChange === true);
/** The server was updated after this page was loaded: the page cannot read its samples. */
export const isOutdated: ReadonlySignal<boolean> = computed(
  () => hello.value !== undefined && hello.value.format !== SAMPLE_FORMAT,
);
export const isOpen: ReadonlySignal<boolean> = computed(() => stream.value.kind === "open");

export function pin(atMs: number | undefined): void {
  pinnedAtMs.value = atMs;
  cursorAtMs.value = atMs;
}

/** Asks for the details of one topic or pool with each sample; nothing asks for none. */
export function watch(wanted: { readonly topic?: string; readonly pool?: string }): void {
  const { topic, pool } = detail.peek();
  if (topic === wanted.topic && pool === wanted.pool) return;
  detail.value = wanted;
  topicDetail.value = undefined;
  poolDetail.value = undefined;
  poolPast.value = [];
  live.restart();
}

/** The token stays in memory: it is gone when the page is. */
export function giveToken(given: string | undefined): void {
  token.value = given;
  live.restart();
}

/** The server has refused the token: the page is read only until another is given. */
export function refuseToken(): void {
  token.value = undefined;
  const { value } = hello;
  if (value !== undefined) hello.value = { ...value, canChange: false };
}

export function authorization(): Record<string, string> {
  const given = token.peek();
  return given === undefined ? {} : { authorization: `Bearer ${given}` };
}

export function tryNow(): void {
  live.restart();
}

export function startLive(): void {
  void live.run();
}

const live = new LiveStream({
  fetch: (url, init) => fetch(url, init),
  timer: systemTimer,
  request: () => {
    const query = new URLSearchParams(Object.entries(detail.peek())).toString();
    return { url: `/api/live${query === "" ? "" : `?${query}`}`, headers: authorization() };
  },
  onEvent,
  onState: (state) => {
    stream.value = state;
  },
});

function isOtherVersion(before: LiveHello | undefined, now: LiveHello): boolean {
  return before !== undefined && before.version !== now.version;
}

function onEvent(event: LiveEvent): void {
  heardAtMs.value = systemClock.now();
  if (event.name !== "hello" && isOutdated.peek()) return;
  switch (event.name) {
    case "hello":
      // A process of another version may pack its samples in another way: its own page reads them.
      if (isOtherVersion(hello.peek(), event.data)) location.reload();
      // Another process: its past is not this one's.
      if (hello.peek()?.startedAtMs !== event.data.startedAtMs) history.clear();
      hello.value = event.data;
      poolPast.value = [];
      return;
    case "past":
      history.addPast(event.data.map(unpackSample));
      break;
    case "sample":
      history.add(unpackSample(event.data));
      break;
    case "missed":
      return;
    case "changes":
      changes.value = event.data.toReversed();
      return;
    case "change":
      changes.value = foldChange(changes.peek(), event.data);
      return;
    case "topic":
      topicDetail.value = event.data;
      return;
    case "poolPast":
      poolPast.value = [...poolPast.peek(), ...event.data].slice(-POOL_PAST_MAX);
      return;
    case "pool":
      poolDetail.value = event.data;
      return;
  }
  version.value++;
}
