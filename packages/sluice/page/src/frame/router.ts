import { computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

/** The pages, in the order of the keys 1 to 4. */
export const PAGES = [
  { id: "overview", name: "Overview", path: "/" },
  { id: "topics", name: "Topics", path: "/topics" },
  { id: "fleet", name: "Fleet", path: "/fleet" },
  { id: "lab", name: "Lab", path: "/lab" },
] as const;

export type PageId = (typeof PAGES)[number]["id"];

const path = signal(location.pathname);

/** What the address names: a page, and what is behind its path, such as the name of a topic. */
export const route: ReadonlySignal<{ readonly page: PageId; readonly rest: string }> = computed(
  () => routeOf(path.value),
);

/** `/topics/public/default/orders` is the page of topics with the rest `public/default/orders`. */
function routeOf(pathname: string): { readonly page: PageId; readonly rest: string } {
  const found = PAGES.find(
    (one) => one.path !== "/" && (pathname === one.path || pathname.startsWith(`${one.path}/`)),
  );
  if (found === undefined) return { page: "overview", rest: "" };
  return { page: found.id, rest: decoded(pathname.slice(found.path.length + 1)) };
}

/** Goes to another page as a link does: with an entry of the browser's history. */
export function navigate(to: string): void {
  const url = new URL(to, location.href);
  if (url.pathname + url.search === location.pathname + location.search) return;
  history.pushState(null, "", url);
  path.value = url.pathname;
  scrollTo(0, 0);
}

/** The path of a topic's page. */
export function topicPath(name: string): string {
  return `/topics/${name.split("/").map(encodeURIComponent).join("/")}`;
}

export function startRouter(): void {
  addEventListener("popstate", () => {
    path.value = location.pathname;
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || !isPlainClick(event) || link.target !== "" || link.download !== "") return;
    // Links within a page, such as the skip link, are the browser's.
    if (link.origin !== location.origin || link.getAttribute("href")?.startsWith("#") === true)
      return;
    event.preventDefault();
    navigate(link.href);
  });
}

function isPlainClick(event: MouseEvent): boolean {
  const { button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
  return !defaultPrevented && button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
