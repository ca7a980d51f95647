import type { Reason } from "@sluice/core";
import type { FleetEvent } from "@sluice/fleet";
import type { ConnectorEvent } from "../connector/open-context.ts";

interface OfVertex {
  readonly pipeline: string;
  readonly vertex: string;
}

/** What happens in a pipeline; one for each change, never for each message. */
export type PipelineEvent =
  | (OfVertex & { readonly kind: "throttled"; readonly reason: Reason; readonly detail: string })
  | (OfVertex & { readonly kind: "flowing"; readonly waitedMs: number })
  /** A message could not be processed: at most one of these per vertex and second, with the count of the others. */
  | (OfVertex & {
      readonly kind: "message-failed";
      readonly messageId: string;
      readonly error: Error;
      /** Whether it is tried again. If not, it is acknowledged. */
      readonly isTriedAgain: boolean;
      /** Whether the dead-letter sink has it. */
      readonly isDeadLettered: boolean;
      readonly others: number;
    })
  | (OfVertex & { readonly kind: "read-failed" | "ack-failed"; readonly error: Error })
  /** The start has come to this vertex: its pool is joined, or its connector connects. */
  | (OfVertex & { readonly kind: "opening"; readonly what: "pool" | "connector" })
  | (OfVertex & { readonly kind: "connector"; readonly event: ConnectorEvent })
  | (OfVertex & { readonly kind: "fleet"; readonly event: FleetEvent })
  | {
      readonly kind: "started" | "draining" | "stopped";
      readonly pipeline: string;
      /** Messages that were read and not acknowledged. */
      readonly unacknowledged: number;
    }
  | { readonly kind: "failed"; readonly pipeline: string; readonly error: Error };
