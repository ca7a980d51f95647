import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { startBroker } from "@sluice/gateway";
import { BrokerError, connect } from "@sluice/pulsar";

// A broker that accepts tokens signed with this key. In production the issuer signs, not the client.
const secretKey = Buffer.from("0123456789abcdef0123456789abcdef");
const broker = await startBroker({
  listen: "pulsar://127.0.0.1:0",
  data: "memory",
  token: { secretKey },
});

function currentToken(): string {
  const encoded = [{ alg: "HS256" }, { sub: "orders-service", exp: 4_000_000_000 }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${encoded}.${createHmac("sha256", secretKey).update(encoded).digest("base64url")}`;
}

// The function is called for each connection, and again when the broker asks for a fresh token.
const client = await connect(broker.url, { token: () => currentToken() });
const producer = await client.createProducer({ topic: "orders" });
await producer.send({ data: "tea" });
await client.close();

await assert.rejects(
  connect(broker.url),
  (error) => error instanceof BrokerError && error.serverError === "AuthenticationError",
);
await broker.close();
