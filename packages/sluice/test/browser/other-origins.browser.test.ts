/** What a web page of another origin may learn of a running flow, or do to it: nothing. */
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, NEEDS_CHROMIUM, useBrowser } from "./browser.ts";
import { useFlow } from "./running-flow.ts";

/** A name that an attacker's DNS server may let point to this machine at any time. */
const REBOUND = "rebound.example";

/** Every way of a page to ask another server. Each answers what it could read, or "nothing". */
const ATTEMPTS = `async (admin) => {
  const nothing = () => "nothing";
  const within = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 2_000, "nothing"))]);
  const element = (tag, set) => within(new Promise((done) => {
    const one = document.createElement(tag);
    one.onload = () => done(tag + " was loaded");
    one.onerror = () => done("nothing");
    Object.assign(one, set);
    document.body.append(one);
  }));
  const read = (path, init) => fetch(admin + path, init).then(async (answer) =>
    answer.type === "opaque" ? "nothing" : answer.ok ? (await answer.body.getReader().read()).value.length + " bytes" : "nothing", nothing);
  const limit = { method: "PUT", body: JSON.stringify({ messages: 7 }) };
  const json = { "content-type": "application/json" };
  const path = "/api/limits/topic/public%2Fdefault%2Forders";
  return {
    "fetch of the stream": await within(read("/api/live")),
    "fetch of the state": await within(read("/api/state")),
    "fetch without cors": await within(read("/api/why", { mode: "no-cors" })),
    "fetch of the page": await within(read("/")),
    "PUT": await within(read(path, { ...limit, headers: json })),
    "PUT without cors": await within(read(path, { ...limit, mode: "no-cors" })),
    "POST as text": await within(read(path, { ...limit, method: "POST", mode: "no-cors" })),
    "EventSource": await within(new Promise((done) => {
      const source = new EventSource(admin + "/api/live");
      source.addEventListener("hello", () => done("events were read"));
      source.onopen = () => done("the stream was opened");
      source.onerror = () => { source.close(); done("nothing"); };
    })),
    "WebSocket": await within(new Promise((done) => {
      const socket = new WebSocket(admin.replace("http", "ws") + "/api/live");
      socket.onopen = () => done("the socket was opened");
      socket.onerror = () => done("nothing");
    })),
    "img": await element("img", { src: admin + "/icon.svg" }),
    "script": await element("script", { src: admin + "/api/state" }),
    "stylesheet": await element("link", { rel: "stylesheet", href: admin + "/api/why" }),
    "iframe": await within(new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.onload = () => {
        try { done(frame.contentDocument.body.innerText.length > 0 ? "the frame was read" : "nothing"); } catch { done("nothing"); }
      };
      frame.src = admin + "/";
      document.body.append(frame);
    })),
    "form": await within(new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.name = "target";
      document.body.append(frame);
      const form = document.createElement("form");
      Object.assign(form, { method: "post", action: admin + path, target: "target", enctype: "text/plain" });
      const field = document.createElement("input");
      Object.assign(field, { name: '{"messages":7,"ignored":"', value: '"}' });
      form.append(field);
      document.body.append(form);
      form.submit();
      setTimeout(done, 500, "nothing");
    })),
  };
}`;

describe.skipIf(chromiumPath === undefined)(`a page of another origin${NEEDS_CHROMIUM}`, () => {
  const flow = useFlow();
  const { open } = useBrowser([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`]);
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>elsewhere</title><body>");
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = (): number => (server.address() as AddressInfo).port;
  const limitNow = async (): Promise<unknown> =>
    await (await fetch(`${flow.admin}/api/limits/topic/public%2Fdefault%2Forders`)).json();

  const origins: readonly (readonly [string, () => string])[] = [
    ["of another port", () => `http://127.0.0.1:${port()}`],
    ["of localhost in place of 127.0.0.1", () => `http://localhost:${port()}`],
    ["of a name that points to this machine", () => `http://${REBOUND}:${port()}`],
  ];
  for (const [what, origin] of origins)
    test(`${what} reads and changes nothing, whatever it tries`, async () => {
      const before = await limitNow();
      const { page } = await open(`${origin()}/`);
      const admin = JSON.stringify(flow.admin);
      const answers = await page.evaluate<Record<string, string>>(`(${ATTEMPTS})(${admin})`);
      expect(new Set(Object.values(answers)), JSON.stringify(answers)).toEqual(
        new Set(["nothing"]),
      );
      expect(await limitNow()).toEqual(before);
    });

  test("a name that is made to point to the flow itself gets no page and no data", async () => {
    const { page } = await open(`${flow.admin.replace("127.0.0.1", REBOUND)}/`);
    expect(await page.locator("body").innerText()).toMatch(/the Host header must be localhost/);
    const asked = "fetch('/api/why').then((answer) => answer.status, () => 'refused')";
    expect(await page.evaluate(asked)).toBe("refused");
    // The answer of the same request without the policy of the refused page.
    const answer = await page.request.get(`${flow.admin}/api/why`, { headers: { host: REBOUND } });
    expect(answer.status()).toBe(403);
  });

  test("localhost is a name of the flow too: its own page works there", async () => {
    const { page, errors } = await open(`${flow.admin.replace("127.0.0.1", "localhost")}/`);
    await page.locator("[data-row]").first().waitFor();
    expect(errors).toEqual([]);
  });
});
