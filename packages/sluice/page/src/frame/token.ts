import { signal } from "@preact/signals";

/** Whether the field for the token is shown while the page is read only. */
export const isTokenAsked = signal(true);

/** Shows the field and puts the caret there. */
export function askForToken(): void {
  isTokenAsked.value = true;
  requestAnimationFrame(() => document.getElementById("token")?.focus());
}
