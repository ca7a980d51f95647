import { startAdmin } from "@sluice/gateway/admin";
import { expect, onTestFinished, test } from "vitest";
import { pageFile } from "./page-file.ts";
import type { PageFile } from "./page-file.ts";
import { pageRoutes } from "./page-routes.ts";

const HTML = "<!doctype html>".padEnd(2_000, " ");
const INDEX = pageFile("index.html", "text/html; charset=utf-8", Buffer.from(HTML));
const SCRIPT = pageFile("assets/index-B2x.js", "text/javascript", Buffer.from("let a;".repeat(99)));

async function served(files: readonly PageFile[]): Promise<string> {
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    version: "0.0.0-test",
    routes: pageRoutes(files),
  });
  onTestFinished(() => admin.close());
  return admin.url;
}

test("every path of a page answers with the page, under a strict policy", async () => {
  const url = await served([INDEX, SCRIPT]);
  for (const path of ["/", "/topics", "/topics/public/default/orders", "/fleet", "/lab"]) {
    const answer = await fetch(url + path);
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, HTML]);
    const policy = answer.headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'; script-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  }
});

test("a hashed file is kept for good, compressed if the browser takes it", async () => {
  const url = `${await served([INDEX, SCRIPT])}/assets/index-B2x.js`;
  const packed = await fetch(url, { headers: { "accept-encoding": "br, gzip" } });
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect(packed.headers.get("cache-control")).toContain("immutable");
  expect(await packed.text()).toBe("let a;".repeat(99));
  const plain = await fetch(url, { headers: { "accept-encoding": "gzip;q=0, identity" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
});

test("HEAD has the headers alone, and a browser that has the file gets 304", async () => {
  const url = await served([INDEX]);
  const head = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "identity" } });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(head.headers.get("content-length")).toBe(String(HTML.length));
  const etag = head.headers.get("etag") ?? "";
  const known = await fetch(url, { headers: { "if-none-match": `"other", W/${etag}` } });
  expect([known.status, await known.text()]).toEqual([304, ""]);
});

test("no path leads out of the page's files", async () => {
  const url = await served([INDEX, SCRIPT]);
  for (const path of [
    "/assets/../package.json",
    "/assets/%2e%2e%2fpackage.json",
    "/..%5c..%5cpackage.json",
    "/assets/index-B2x.js%00.html",
    "/index.html/../../package.json",
    "/.env",
  ])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
});

test("a checkout that was not built says how to build it, and the API works", async () => {
  const url = await served([]);
  const answer = await fetch(url);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("npm run build");
  expect((await fetch(`${url}/api/state`)).status).toBe(200);
});
