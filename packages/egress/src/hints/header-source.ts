/** Where fields are read by name, in any case of letters. A `Headers` is one. */
export interface HeaderSource {
  get(name: string): string | null | undefined;
}
