/** Anchors of headings as GitHub makes them, so that one link works on the forge and on the site. */

/** @returns {(heading: string) => string} a function for the headings of one page, in their order */
export function slugger() {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return (heading) => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}
