import { effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { LiveNotice } from "../../../src/live/live-message.ts";
import { topicDetail } from "../live/live-store.ts";
import { withNotices } from "./model/notice-log.ts";

interface Known {
  readonly topic: string | undefined;
  readonly notices: readonly LiveNotice[];
}

const known = signal<Known>({ topic: undefined, notices: [] });

/** The notices of the topic that is watched, of the last five minutes as far as they were sent. */
export const notices: ReadonlySignal<Known> = known;

effect(() => {
  const detail = topicDetail.value;
  if (detail === undefined) return;
  const before = known.peek();
  const old = before.topic === detail.name ? before.notices : [];
  known.value = { topic: detail.name, notices: withNotices(old, detail.notices, detail.atMs) };
});
