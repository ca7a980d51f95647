import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { systemTimer } from "@sluice/core/system";

/** How long a toast stays, ms: long enough to read two lines and press Undo. */
const SHOWN_MS = 8_000;

interface Toast {
  readonly text: string;
  readonly undo?: (() => void) | undefined;
}

const shown = signal<Toast | undefined>(undefined);
let ending = new AbortController();

/** Says that something was done, with a way back. A new toast replaces the one before. */
export function toast(text: string, undo?: () => void): void {
  ending.abort();
  ending = new AbortController();
  shown.value = { text, undo };
  void hideLater(ending.signal);
}

async function hideLater(replaced: AbortSignal): Promise<void> {
  await systemTimer.sleep(SHOWN_MS, replaced).catch(() => undefined);
  if (!replaced.aborted) shown.value = undefined;
}

export function Toast(): JSX.Element {
  const { value } = shown;
  return (
    <div role="status">
      {value !== undefined && (
        <div class="toast">
          <span>{value.text}</span>
          {value.undo !== undefined && (
            <button
              type="button"
              onClick={() => {
                shown.value = undefined;
                value.undo?.();
              }}
            >
              Undo
            </button>
          )}
        </div>
      )}
    </div>
  );
}
