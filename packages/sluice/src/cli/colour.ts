/** Colour only on a terminal, and not if NO_COLOR is set to anything (no-color.org). */
export function isColoured(
  { isTTY }: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  return isTTY === true && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}
