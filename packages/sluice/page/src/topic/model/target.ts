/** What the page is about: a topic, a group of topics, the gateway as a whole, or the frames that it holds. */
export type Target =
  | { readonly kind: "topic"; readonly name: string }
  | { readonly kind: "group"; readonly name: string }
  | { readonly kind: "broker" }
  | { readonly kind: "held" };

const GROUP = "group/";

/** Reads what is behind `/topics/`. A topic has three parts, so that `group/NAME` is none. */
export function targetOf(rest: string): Target | undefined {
  if (rest === "") return undefined;
  if (rest === "broker" || rest === "held") return { kind: rest };
  const isGroup = rest.startsWith(GROUP) && rest.split("/").length === 2;
  return isGroup
    ? { kind: "group", name: rest.slice(GROUP.length) }
    : { kind: "topic", name: shortName(rest) };
}

/** The path of the page of a target. */
export function pathOf(target: Target): string {
  switch (target.kind) {
    case "topic":
      return `/topics/${encoded(target.name)}`;
    case "group":
      return `/topics/group/${encodeURIComponent(target.name)}`;
    case "broker":
    case "held":
      return `/topics/${target.kind}`;
  }
}

function encoded(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

export function keyOf(target: Target): string {
  return "name" in target ? `${target.kind} ${target.name}` : target.kind;
}

/** For people: the last part of a topic's name. */
export function labelOf(target: Target): string {
  switch (target.kind) {
    case "topic":
      return localName(target.name);
    case "group":
      return target.name;
    case "broker":
      return "the gateway";
    case "held":
      return "held frames";
  }
}

/** `public/default/orders` is `orders`. */
export function localName(topic: string): string {
  return topic.split("/").at(-1) ?? topic;
}

/** As the live stream has it: without `persistent://`, and with a tenant and a namespace. */
function shortName(name: string): string {
  const short = name.replace(/^persistent:\/\//, "");
  return short.includes("/") ? short : `public/default/${short}`;
}
