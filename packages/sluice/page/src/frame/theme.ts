import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

export type Theme = "dark" | "light";

const KEY = "sluice.theme";
const system = matchMedia("(prefers-color-scheme: light)");
const isSystemLight = signal(system.matches);
const chosen = signal<Theme | undefined>(stored());

/** The system's theme until the user has chosen one. */
export const theme: ReadonlySignal<Theme> = computed(
  () => chosen.value ?? (isSystemLight.value ? "light" : "dark"),
);

export function toggleTheme(): void {
  const next = theme.peek() === "dark" ? "light" : "dark";
  chosen.value = next;
  document.documentElement.dataset["theme"] = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Storage is off: the choice holds until the page is closed.
  }
}

export function startTheme(): void {
  const { value } = chosen;
  if (value !== undefined) document.documentElement.dataset["theme"] = value;
  system.addEventListener("change", () => {
    isSystemLight.value = system.matches;
  });
}

function stored(): Theme | undefined {
  try {
    const value = localStorage.getItem(KEY);
    return value === "dark" || value === "light" ? value : undefined;
  } catch {
    return undefined;
  }
}
