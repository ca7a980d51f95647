import type { PartEvent } from "@sluice/gateway";
import { durationText } from "@sluice/gateway/internal";
import type { PipelineEvent } from "@sluice/pipeline";

/** What a log line and `/api/events` say of an event; undefined for those of every second. */
export function partEventOf(event: PipelineEvent): PartEvent | undefined {
  if (!("vertex" in event)) return ofPipeline(event);
  const { pipeline, vertex } = event;
  const subject = `${pipeline}/${vertex}`;
  const of = { subject, pipeline, vertex };
  switch (event.kind) {
    case "throttled": {
      const { reason, detail } = event;
      return {
        kind: "vertex-throttled",
        ...of,
        reason,
        text: `${subject} waits (${reason}): ${detail}`,
      };
    }
    case "flowing": {
      const { waitedMs } = event;
      const text = `${subject} flows again; it waited ${durationText(waitedMs)} in all`;
      return { kind: "vertex-flowing", ...of, waitedMs, text };
    }
    case "message-failed": {
      const { messageId, error, isDeadLettered, isTriedAgain, others } = event;
      const more = others === 0 ? "" : `, and ${others} others`;
      const lost = isDeadLettered ? "it went to the dead-letter sink" : "it is lost";
      const end = isTriedAgain ? "it is tried again" : lost;
      return {
        kind: "vertex-message-failed",
        ...of,
        messageId,
        isDeadLettered,
        others,
        text: `${subject} could not process message ${messageId}${more}: ${error.message}; ${end}`,
      };
    }
    case "read-failed":
      return {
        kind: "vertex-read-failed",
        ...of,
        text: `${subject} cannot read: ${event.error.message}; it tries again`,
      };
    case "ack-failed":
      return {
        kind: "vertex-ack-failed",
        ...of,
        text: `${subject} cannot acknowledge: ${event.error.message}; messages may come twice`,
      };
    case "connector":
      return {
        kind: "vertex-connector",
        ...of,
        level: event.event.level,
        text: `${subject}: ${event.event.text}`,
      };
    case "fleet":
      return ofFleet(event.event, of);
    case "opening":
      return undefined;
  }
}

type Fleet = Extract<PipelineEvent, { kind: "fleet" }>["event"];

function ofFleet(
  event: Fleet,
  of: { readonly subject: string; readonly pipeline: string; readonly vertex: string },
): PartEvent | undefined {
  const { subject } = of;
  switch (event.type) {
    case "size":
      return {
        kind: "vertex-members",
        ...of,
        members: event.size,
        text: `${subject} is shared by ${event.size} ${event.size === 1 ? "member" : "members"}; there were ${event.before}`,
      };
    case "standing":
      return {
        kind: "vertex-standing",
        ...of,
        standing: event.standing,
        text: `${subject} is ${event.standing} in its pool (${event.reason}); it was ${event.before}`,
      };
    case "limits":
      return {
        kind: "vertex-limits",
        ...of,
        text:
          event.refused === undefined
            ? `${subject} has the limits that were set for the whole fleet`
            : `${subject} refused the limits that were set for the whole fleet: ${event.refused}`,
      };
    case "learning":
      return {
        kind: "vertex-learning",
        ...of,
        text: `the store of ${subject} has lost its memory: no share grows for ${durationText(event.forMs)}`,
      };
    case "sync-failed": {
      const { error } = event;
      const why = error instanceof Error ? error.message : String(error);
      return {
        kind: "vertex-sync-failed",
        ...of,
        text: `the store of ${subject} did not answer: ${why}`,
      };
    }
    case "sync-back": {
      const { failures, afterMs } = event;
      const failed = failures === 1 ? "1 sync" : `${failures} syncs`;
      return {
        kind: "vertex-sync-back",
        ...of,
        failures,
        afterMs,
        text: `the store of ${subject} answers again after ${durationText(afterMs)}; ${failed} failed`,
      };
    }
    case "resume":
      return {
        kind: "vertex-resume",
        ...of,
        text: event.isTaken
          ? `${subject} goes on at the level that the fleet had before`
          : `${subject} starts anew: the fleet had left for a pause`,
      };
    case "share":
    case "step":
      return undefined;
  }
}

function ofPipeline(
  event: Exclude<PipelineEvent, { readonly vertex: string }>,
): PartEvent | undefined {
  const { kind, pipeline } = event;
  const of = { subject: pipeline, pipeline };
  switch (kind) {
    case "started":
      return { kind: "pipeline-started", ...of, text: `pipeline ${pipeline} has started` };
    case "draining":
      return {
        kind: "pipeline-draining",
        ...of,
        unacknowledged: event.unacknowledged,
        text: `pipeline ${pipeline} drains: ${event.unacknowledged} messages are on their way`,
      };
    case "stopped":
      return {
        kind: "pipeline-stopped",
        ...of,
        unacknowledged: event.unacknowledged,
        text:
          event.unacknowledged === 0
            ? `pipeline ${pipeline} has stopped; every message that was read is acknowledged`
            : `pipeline ${pipeline} has stopped; ${event.unacknowledged} messages go back to the source`,
      };
    case "failed":
      // The supervisor tells it, with the time of the next start.
      return undefined;
  }
}
