import { countText } from "@sluice/gateway/internal";

/** `1 frame`, `1,000 frames`. */
export function counted(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? "" : "s"}`;
}
