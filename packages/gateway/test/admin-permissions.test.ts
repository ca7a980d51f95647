/** Pulsar's permission paths: what they grant is what clients then may do. */
import { SignJWT } from "jose";
import { connect } from "@sluice/pulsar";
import { systemWallClock } from "@sluice/core/system";
import { describe, expect, onTestFinished, test } from "vitest";
import { startAdmin } from "../src/admin.ts";
import { startBroker } from "../src/index.ts";
import { adminScene } from "./admin-client.ts";

const SECRET = Buffer.alloc(32, "canary");
const TOKEN = "a-token-of-the-administration";
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const NS = "/admin/v2/namespaces/public/default";
const T = "/admin/v2/persistent/public/default/t";

function tokenOf(role: string): Promise<string> {
  const endsAt = Math.floor(systemWallClock.now() / 1_000) + 600;
  return new SignJWT({ sub: role })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(endsAt)
    .sign(SECRET);
}

async function scene(): Promise<{
  readonly admin: (method: string, path: string, body?: unknown) => Promise<Answered>;
  readonly produces: (role: string) => Promise<boolean>;
}> {
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    token: { secretKey: SECRET },
    roles: { boss: { admin: true } },
  });
  const running = await startAdmin({ listen: "127.0.0.1:0", broker, version: "0", token: TOKEN });
  onTestFinished(async () => {
    await running.close();
    await broker.close();
  });
  return {
    admin: async (method, path, body) => {
      const response = await fetch(running.url + path, {
        method,
        headers: { ...HEADERS, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        json: text === "" ? undefined : (JSON.parse(text) as unknown),
      };
    },
    produces: async (role) => {
      const client = await connect(broker.url, { token: await tokenOf(role) });
      try {
        const producer = await client.createProducer({ topic: "t" });
        await producer.send({ data: Buffer.from("x") });
        return true;
      } catch (error) {
        if (/AuthorizationError|may not/.test(String(error))) return false;
        throw error;
      } finally {
        await client.close();
      }
    },
  };
}

interface Answered {
  readonly status: number;
  readonly json: unknown;
}

describe("permissions", () => {
  test("of a namespace and of a topic let a role publish, until they are revoked", async () => {
    const { admin, produces } = await scene();
    await admin("PUT", T);
    expect(await produces("app")).toBe(false);
    for (const place of [NS, T]) {
      expect((await admin("POST", `${place}/permissions/app`, ["produce"])).status).toBe(204);
      expect((await admin("GET", `${place}/permissions`)).json).toEqual({ app: ["produce"] });
      expect(await produces("app")).toBe(true);
      expect(await produces("other")).toBe(false);
      expect((await admin("DELETE", `${place}/permissions/app`)).status).toBe(204);
      expect(await produces("app")).toBe(false);
    }
  });

  test("are shown with the policies of their namespace", async () => {
    const { admin } = await scene();
    await admin("PUT", T);
    await admin("POST", `${NS}/permissions/app`, ["consume"]);
    await admin("POST", `${T}/permissions/other`, ["produce"]);
    expect((await admin("GET", NS)).json).toMatchObject({
      auth_policies: {
        namespace_auth: { app: ["consume"] },
        destination_auth: { "persistent://public/default/t": { other: ["produce"] } },
      },
    });
  });

  test("may come with a new namespace", async () => {
    const { admin } = await scene();
    const policies = { auth_policies: { namespace_auth: { app: ["produce"] } } };
    const other = "/admin/v2/namespaces/public/other";
    expect((await admin("PUT", other, policies)).status).toBe(204);
    expect((await admin("GET", `${other}/permissions`)).json).toEqual({ app: ["produce"] });
  });

  test("for what the broker does not have are refused by name", async () => {
    const { admin } = await scene();
    const grant = (action: string): Promise<Answered> =>
      admin("POST", `${NS}/permissions/app`, ["produce", action]);
    expect(await grant("functions")).toMatchObject({
      status: 405,
      json: { reason: expect.stringContaining("functions is not supported") as string },
    });
    expect((await grant("fly")).status).toBe(400);
    expect((await admin("GET", `${NS}/permissions`)).json).toEqual({});
  });

  test("are refused where they would change nothing, as roles are not configured", async () => {
    const { call } = await adminScene();
    const refusal = {
      status: 405,
      json: { reason: expect.stringContaining("Authorization is not enabled") as string },
    };
    expect(await call("POST", `${NS}/permissions/app`, ["produce"])).toMatchObject(refusal);
    const policies = { auth_policies: { namespace_auth: { app: ["produce"] } } };
    const other = "/admin/v2/namespaces/public/other";
    expect(await call("PUT", other, policies)).toMatchObject(refusal);
    expect((await call("GET", other)).status).toBe(404);
    expect((await call("DELETE", `${NS}/permissions/app`)).status).toBe(204);
  });
});
