import type { JSX } from "preact";
import { Icon } from "./icon.tsx";
import { still } from "./still.ts";

export type FlowState = "flowing" | "throttled" | "paused" | "lost" | "idle" | "error";

export const STATE_WORDS: Readonly<Record<FlowState, string>> = {
  flowing: "Flowing",
  throttled: "Throttled",
  paused: "Paused",
  lost: "Store lost",
  idle: "Idle",
  error: "Failing",
};

/** A state: its shape and its word, or another word in its place. */
export const StateTag = still(function StateTag({
  state,
  word,
}: {
  readonly state: FlowState;
  readonly word?: string | undefined;
}): JSX.Element {
  return (
    <span class={`state ${state}`}>
      <Icon name={state === "lost" ? "store-lost" : state} size={13} />
      {word ?? STATE_WORDS[state]}
    </span>
  );
});
