/** Mistakes of a flow file are reported without the secrets that stand in them. */
import { expect, test } from "vitest";
import { loadFlow } from "../flow-file.ts";

/** A secret in every place where one may be put, right or wrong; each key is wrong. */
const FLOW = String.raw`
name: shop
store: { redis: { url: "http://uS3CRET1:S3CRET2@127.0.0.1:1/0", password: S3CRET3 } }
admin: { listen: 127.0.0.1:9382, token: S3CRET4 }
gateway: { listen: "pulsar://S3CRET5:S3CRET6@127.0.0.1:0", data: memory, upstream: { url: "pulsar://u:S3CRET7@h:1", token: S3CRET8 } }
pipelines:
  a:
    limits: { rateLimit: { max: 10, store: { redisStore: { mode: single, url: "xredis://:S3CRET9@127.0.0.1:1" } } } }
    vertices:
      - { name: in, source: { redis: { url: "redi://uS3CRET10:S3CRET11@127.0.0.1:1", password: S3CRET12, stream: s, group: g } } }
      - { name: m, map: { command: 5, env: { K: S3CRET13 } } }
      - { name: out, sink: { http: { url: "ftp://a:S3CRET14@127.0.0.1:9381/401/x?key=S3CRET15#S3CRET16", headers: [S3CRET17], token: S3CRET18 } } }
  b:
    vertices:
      - { name: in, source: { nats: { servers: "nats://u:S3CRET20@127.0.0.1:1", user: [S3CRET21], token: S3CRET22, pass: S3CRET23, stream: s, consumer: c } } }
      - { name: out, sink: { http: { url: "http://a:S3CRET24@h/", headers: { authorization: [S3CRET25], x: "a\nS3CRET26" } } } }
  c:
    vertices:
      - { name: in, source: { kafka: { brokers: "u:S3CRET27@127.0.0.1:1", topic: t, group: g, sasl: { mechanism: plain, username: u, password: S3CRET28 } } } }
      - { name: out, sink: { redis: { url: ["redis://:S3CRET29@h"], stream: s, passwordFile: {a: S3CRET30} } } }
  d:
    vertices:
      - { name: in, source: { pulsar: { url: "pulsar://u:S3CRET31@127.0.0.1:1", token: S3CRET32, topic: t, subscription: s, tls: { key: [S3CRET33] } } } }
      - { name: out, sink: { nats: { servers: ["nats://u:S3CRET34@h:1", 5], subject: s } } }
`;

function mistakesOf(text: string): string {
  try {
    loadFlow(text, "flow.yaml");
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

test("no mistake shows a secret of the file", () => {
  const message = mistakesOf(FLOW);
  expect(message.match(/S3CRET\d+/g)).toBeNull();
  expect(message.split("\n").length).toBeGreaterThanOrEqual(24);
});

test("a mistake still shows what was found where that is no secret", () => {
  expect(mistakesOf("admin: { listen: nowhere }")).toContain('admin.listen is "nowhere"; expected');
  expect(mistakesOf("gateway: { limits: 5 }")).toContain("gateway.limits is 5; expected");
});

test("a password that is cut where the message is cut is not shown", () => {
  const password = "S3CRET".repeat(20);
  const message = mistakesOf(`gateway: { listen: "pulsar://u:${password}@127.0.0.1:6650" }`);
  expect(message).toContain("gateway.listen has a value that may hold a secret and is not shown");
  expect(message).not.toContain("S3CRET");
});
