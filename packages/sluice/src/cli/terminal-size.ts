/** Of a pipe, and of a terminal that gives 0 columns, such as that of `docker run -t` without a terminal around it. */
const UNKNOWN = { columns: 100, rows: 60 };

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The size to print for; 100 by 60 where the output does not know its own. */
export function terminalSize(
  out: Partial<TerminalSize> & { readonly isTTY?: boolean },
): TerminalSize {
  if (!out.isTTY) return UNKNOWN;
  return { columns: out.columns || UNKNOWN.columns, rows: out.rows || UNKNOWN.rows };
}
