import { computed } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { JSX } from "preact";
import { connection, hello, lastHeardAtMs, LOST_AFTER_MS } from "../live/live-store.ts";
import { durationText } from "../words/numbers.ts";
import { nowMs } from "./ticking.ts";

/** How long the page has heard nothing, ms, once that is worth a word. */
export const lostForMs: ReadonlySignal<number | undefined> = computed(() => {
  const heard = lastHeardAtMs.value;
  if (heard === undefined) return undefined;
  const forMs = nowMs.value - heard;
  return forMs < LOST_AFTER_MS ? undefined : forMs;
});

export function ConnectionBadge(): JSX.Element {
  const lost = lostForMs.value;
  const { kind } = connection.value;
  const member = hello.value?.member;
  if (lost !== undefined) {
    const seconds = durationText(Math.floor(lost / 1_000) * 1_000).replace(".0 s", " s");
    return <Badge kind="lost" text={`No connection for ${seconds}`} />;
  }
  if (member === undefined || kind !== "open")
    return (
      <Badge kind="connecting" text={kind === "unauthorized" ? "Needs a token" : "Connecting"} />
    );
  return (
    <span class="live" role="status" title={`Live from member ${member}`}>
      <i />
      <span class="w">
        Live from member <b class="strong">{member}</b>
      </span>
    </span>
  );
}

function Badge({ kind, text }: { readonly kind: string; readonly text: string }): JSX.Element {
  return (
    <span class={`live ${kind}`} role="status" title={text}>
      <i />
      <span class="w">{text}</span>
    </span>
  );
}
