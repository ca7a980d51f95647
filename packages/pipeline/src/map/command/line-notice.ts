import type { Clock } from "@sluice/core";
import { Redaction } from "@sluice/core/internal";
import type { ConnectorEvent } from "../../connector/open-context.ts";

/** Lines that are told within one second; further ones are counted. A log takes more, but a person does not. */
const LINES_PER_SECOND = 20;
/** Characters of one line that are told. */
const LINE_LENGTH_MAX = 500;
const WINDOW_MS = 1_000;

/** Tells the lines that a child writes for people, a bounded number of them, without secrets. */
export class LineNotice {
  readonly #clock: Clock;
  readonly #tell: (event: ConnectorEvent) => void;
  readonly #redaction: Redaction;
  #sinceMs = -Infinity;
  #told = 0;
  #leftOut = 0;

  constructor(
    clock: Clock,
    tell: (event: ConnectorEvent) => void,
    secrets: readonly string[] = [],
  ) {
    this.#clock = clock;
    this.#tell = tell;
    this.#redaction = new Redaction(secrets);
  }

  add(text: string): void {
    const nowMs = this.#clock.now();
    if (nowMs - this.#sinceMs >= WINDOW_MS) {
      this.#sinceMs = nowMs;
      this.#told = 0;
      this.#tellLeftOut();
    }
    if (this.#told >= LINES_PER_SECOND) {
      this.#leftOut++;
      return;
    }
    this.#told++;
    // Twice the length: a secret that is cut at the end of the line is known by its whole text.
    const shown = this.#redaction.apply(text.slice(0, 2 * LINE_LENGTH_MAX));
    this.#tell({ level: "warning", text: shown.slice(0, LINE_LENGTH_MAX) });
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0) return;
    this.#tell({ level: "warning", text: `${this.#leftOut} further lines were left out` });
    this.#leftOut = 0;
  }
}
