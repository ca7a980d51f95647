import fc from "fast-check";
import { expect, test } from "vitest";
import { clientKey } from "./client-key.ts";

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["203.0.113.9:443", "203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002::6", "2001:db8:1:2::/64"],
  ["[2001:db8:1:2::6]:443", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["a socket", "a socket"],
  [undefined, "unknown"],
])("the client at %o has the key %o", (address, key) => {
  expect(clientKey(address)).toBe(key);
});

test.each([
  { forwardedFor: "198.51.100.7", proxies: undefined, key: "198.51.100.7" },
  { forwardedFor: "6.6.6.6, 198.51.100.7", proxies: 1, key: "198.51.100.7" },
  { forwardedFor: "6.6.6.6, 198.51.100.7, 10.0.0.2", proxies: 2, key: "198.51.100.7" },
  { forwardedFor: ["6.6.6.6", "198.51.100.7"], proxies: 1, key: "198.51.100.7" },
  { forwardedFor: "[2001:db8::1]:1234", proxies: 1, key: "2001:db8:0:0::/64" },
  { forwardedFor: "198.51.100.7", proxies: 2, key: "10.0.0.1" },
  { forwardedFor: "198.51.100.7", proxies: 0, key: "10.0.0.1" },
  { forwardedFor: "198.51.100.7, ", proxies: 1, key: "10.0.0.1" },
  { forwardedFor: "", proxies: 1, key: "10.0.0.1" },
  { forwardedFor: undefined, proxies: 1, key: "10.0.0.1" },
])("$forwardedFor through $proxies proxies is $key", ({ forwardedFor, proxies, key }) => {
  expect(clientKey("10.0.0.1", forwardedFor, proxies)).toBe(key);
});

test("what a client writes in front of its proxies changes nothing", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 3 }), (written, proxies) => {
      const added = ["198.51.100.7", "10.0.0.3", "10.0.0.2"].slice(0, proxies).join(", ");
      expect(clientKey("10.0.0.1", `${written}, ${added}`, proxies)).toBe("198.51.100.7");
    }),
  );
});

test("all addresses of one /64 are one client, and those of the next are another", () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16));
  const host = fc.tuple(group, group, group, group).map((groups) => groups.join(":"));
  fc.assert(
    fc.property(host, host, (one, other) => {
      expect(clientKey(`2001:db8:0:1:${one}`)).toBe(clientKey(`2001:db8:0:1:${other}`));
      expect(clientKey(`2001:db8:0:1:${one}`)).not.toBe(clientKey(`2001:db8:0:2:${other}`));
    }),
  );
});
