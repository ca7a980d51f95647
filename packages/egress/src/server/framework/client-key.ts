/**
 * The key of a client by its network address: one for each IPv4 address and one for each IPv6 /64,
 * which is what a single household or host is given and could flood us from. Clients without an
 * address share one key.
 *
 * Behind `proxies` proxies of yours the client is that many entries from the end of
 * `X-Forwarded-For`. What stands further left was written by the client and is not believed; with
 * fewer entries than proxies the request came past them, and its own address counts.
 */
export function clientKey(
  address: string | undefined,
  forwardedFor?: string | readonly string[],
  proxies: number = forwardedFor === undefined ? 0 : 1,
): string {
  const hops = typeof forwardedFor === "string" ? forwardedFor : (forwardedFor?.join(",") ?? "");
  const forwarded = proxies > 0 ? hops.split(",").at(-proxies)?.trim() : undefined;
  const believed = forwarded === undefined || forwarded === "" ? address : forwarded;
  return networkOf(withoutPort(believed ?? "unknown"));
}

function withoutPort(address: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(address);
  if (bracketed !== null) return bracketed[1] ?? "";
  return address.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}

function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1] ?? "";
  if (!/^[0-9a-f:]+(%.*)?$/i.test(address) || !address.includes(":")) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => "0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function groupsOf(text: string): string[] {
  if (text === "") return [];
  return text.split(":").map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
}
