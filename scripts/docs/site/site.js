/** The search over headings, the theme, and the list of pages on narrow screens. Nothing is asked of another host. */
const RESULTS_MAX = 20;
const script = document.currentScript;
const up = script.dataset.up;
const field = document.querySelector("#search");
const results = document.querySelector("#results");
const pages = document.querySelector("#pages");
const wide = matchMedia("(min-width: 60rem)");

const chosen = localStorage.getItem("sluice-theme");
if (chosen !== null) document.documentElement.dataset.theme = chosen;
document.querySelector("#theme").addEventListener("click", () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("sluice-theme", document.documentElement.dataset.theme);
});

const openIfWide = () => (pages.open = wide.matches);
openIfWide();
wide.addEventListener("change", openIfWide);
pages.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

/** The index is loaded with the first search. */
let index;
function loadIndex() {
  index ??= new Promise((resolve) => {
    const element = document.createElement("script");
    element.src = `${up}search-index.js`;
    element.addEventListener("load", () => resolve(globalThis.sluiceIndex));
    document.head.append(element);
  });
  return index;
}

function scoreOf(entry, words) {
  const heading = entry[1].toLowerCase();
  const title = entry[0].toLowerCase();
  let score = 0;
  for (const word of words) {
    if (heading.startsWith(word)) score += 4;
    else if (heading.includes(word)) score += 2;
    else if (title.includes(word)) score += 1;
    else return 0;
  }
  return score + (entry[2].includes("#") ? 0 : 1) - heading.length / 1000;
}

async function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const entries = words.length === 0 ? [] : await loadIndex();
  const found = entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, RESULTS_MAX);
  results.replaceChildren(
    ...found.map(({ entry: [title, heading, address] }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = up + address;
      link.append(heading);
      if (title !== heading) {
        const small = document.createElement("small");
        small.append(title);
        link.append(" ", small);
      }
      item.append(link);
      return item;
    }),
  );
  if (words.length > 0 && found.length === 0) {
    const item = document.createElement("li");
    item.append("No heading has these words.");
    results.append(item);
  }
  results.hidden = words.length === 0;
}

field.addEventListener("input", () => void search());
document.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "/" && !/^(?:INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape") {
    field.value = "";
    results.hidden = true;
  } else if (results.hidden) return;
  else if (event.key === "Enter" && document.activeElement === field) links[0]?.click();
  else if (event.key === "ArrowDown") links.at((at + 1) % links.length)?.focus();
  else if (event.key === "ArrowUp") (at > 0 ? links[at - 1] : field).focus();
  else return;
  if (event.key.startsWith("Arrow")) event.preventDefault();
});
