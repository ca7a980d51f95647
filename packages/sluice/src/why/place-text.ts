/** Where a setting stands, for people: "flow.yaml:12". What came through standard input has a line only. */
export function placeText(place: string): string {
  return place.replace(/^-:/, "standard input, line ");
}
