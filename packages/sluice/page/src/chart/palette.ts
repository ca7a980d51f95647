import { computed } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import { theme } from "../frame/theme.ts";
import type tokens from "../style/tokens.json";

/** A name of tokens.json. */
export type Token = keyof (typeof tokens)["dark"];

export interface Palette {
  readonly isDark: boolean;
  /** The colour of a token; with `alpha` below 1 it is see-through. */
  readonly ink: (token: Token, alpha?: number) => string;
  readonly font: (px: number, weight?: number) => string;
}

/** The colours of the present theme, for canvases. */
export const palette: ReadonlySignal<Palette> = computed(() => {
  const isDark = theme.value === "dark";
  const style = getComputedStyle(document.documentElement);
  const inks = new Map<string, string>();
  const sans = style.getPropertyValue("--sans").trim();
  const ink = (token: Token, alpha = 1): string => {
    const key = `${token} ${alpha}`;
    const known = inks.get(key);
    if (known !== undefined) return known;
    const color = withAlpha(style.getPropertyValue(`--${token}`).trim(), alpha);
    inks.set(key, color);
    return color;
  };
  return { isDark, ink, font: (px, weight = 400) => `${weight} ${px}px ${sans}` };
});

/** `#rrggbb` with an alpha from 0 to 1. The bundler shortens `#ffffff` to `#fff`. */
function withAlpha(hex: string, alpha: number): string {
  if (alpha >= 1) return hex;
  const long = hex.length === 4 ? hex.replaceAll(/[\da-f]/gi, "$&$&") : hex;
  return (
    long +
    Math.round(alpha * 255)
      .toString(16)
      .padStart(2, "0")
  );
}
