import type { LiveGate, LiveVertex } from "../../../../src/live/live-message.ts";
import type { FlowState } from "../../parts/state-tag.tsx";

/** Messages a second below which a vertex is idle. */
const IDLE_BELOW = 0.05;

/** What a vertex lets through, messages a second; of a sink with a gate, what it sends. */
export function vertexRate({ rate, gate }: LiveVertex): number {
  return gate === undefined ? rate : Math.max(rate, gate.sent);
}

export function vertexState(vertex: LiveVertex): FlowState {
  const { reason, behind } = vertex;
  if (reason === "store-lost") return "lost";
  if (reason === "retry-after" && behind === undefined) return "paused";
  if (reason !== undefined || behind !== undefined) return "throttled";
  return vertexRate(vertex) < IDLE_BELOW ? "idle" : "flowing";
}

export function serviceState({ pause, busy, failed, ok }: LiveGate): readonly [FlowState, string] {
  if (pause !== undefined) return ["paused", "Asked to wait"];
  if (busy > IDLE_BELOW) return ["throttled", "Says busy"];
  if (failed > IDLE_BELOW && failed > ok) return ["error", "Failing"];
  return ok < IDLE_BELOW ? ["idle", "Idle"] : ["flowing", "Answering"];
}
