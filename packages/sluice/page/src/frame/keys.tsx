import type { JSX } from "preact";
import { latest, pin, pinnedAtMs, samples } from "../live/live-store.ts";
import { navigate, PAGES } from "./router.ts";
import { toggleTheme } from "./theme.ts";

const STEP_MS = 2_000;
const BIG_STEP_MS = 10_000;

const LIST: readonly (readonly [string, string])[] = [
  ["1 2 3 4", "Overview, Topics, Fleet, Lab"],
  ["j k", "next and previous row"],
  ["e", "edit the limit of this row"],
  ["↑ ↓", "a step up or down; with Shift ten steps"],
  ["↵", "apply, after the effect is shown"],
  ["← →", "move the cursor through the last 5 minutes"],
  ["Esc", "discard, or back to live"],
  ["d", "light or dark"],
  ["?", "this list"],
];

const DIALOG = "keys-dialog";

export function KeysDialog(): JSX.Element {
  return (
    <dialog class="keys" id={DIALOG} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {LIST.map(([keys, what]) => (
          <>
            <dt>
              {keys.split(" ").map((key) => (
                <span class="kbd">{key}</span>
              ))}
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
    </dialog>
  );
}

export function showKeys(): void {
  const dialog = document.getElementById(DIALOG);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

/** Keys of every page. A page with rows marks them with `data-row`; a field that is edited keeps its keys. */
export function startKeys(): void {
  addEventListener("keydown", (event) => {
    const { key, metaKey, ctrlKey, altKey, target, defaultPrevented } = event;
    if (defaultPrevented || metaKey || ctrlKey || altKey || isEditing(target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    if (onKey(key, event.shiftKey)) event.preventDefault();
  });
}

function onKey(key: string, isShifted: boolean): boolean {
  const page = PAGES["1234".indexOf(key)];
  if (page !== undefined && key.length === 1) {
    navigate(page.path);
    return true;
  }
  switch (key) {
    case "?":
      showKeys();
      return true;
    case "d":
      toggleTheme();
      return true;
    case "j":
      return focusRow(1);
    case "k":
      return focusRow(-1);
    case "e":
      return editRow();
    case "ArrowLeft":
      return travel(isShifted ? -BIG_STEP_MS : -STEP_MS);
    case "ArrowRight":
      return travel(isShifted ? BIG_STEP_MS : STEP_MS);
    case "Escape":
      return leave();
    default:
      return false;
  }
}

function isEditing(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, [role=slider], [role=spinbutton]") !== null
  );
}

function focusRow(by: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return false;
  const index = rows.findIndex((row) => row.contains(document.activeElement));
  const next = index < 0 ? (by > 0 ? 0 : rows.length - 1) : index + by;
  rows[Math.min(rows.length - 1, Math.max(0, next))]?.focus();
  return true;
}

function editRow(): boolean {
  const input = document.activeElement?.closest("[data-row]")?.querySelector("input");
  input?.select();
  input?.focus();
  return input !== null && input !== undefined;
}

function travel(byMs: number): boolean {
  const newest = latest.peek()?.atMs;
  const oldest = samples.peek()[0]?.atMs;
  if (newest === undefined || oldest === undefined) return false;
  const wanted = (pinnedAtMs.peek() ?? newest) + byMs;
  pin(wanted >= newest ? undefined : Math.max(oldest, wanted));
  return true;
}

function leave(): boolean {
  if (pinnedAtMs.peek() !== undefined) {
    pin(undefined);
    return true;
  }
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  return false;
}
