import type { Random, Timer } from "@sluice/core";

/** What a connector gets from the pipeline that opens it. */
export interface OpenContext {
  /** `pipeline/vertex`: unique in a flow, for consumer names and log lines. */
  readonly name: string;
  readonly timer: Timer;
  readonly random: Random;
  /** Aborts when the pipeline stops before the connector is open. */
  readonly signal: AbortSignal;
  /** Tells a person what happens beside the results of calls, such as a lost connection. */
  readonly tell: (event: ConnectorEvent) => void;
}

/** One line of a log: what happened, in a sentence, and whether an operator has to look. */
export interface ConnectorEvent {
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}
