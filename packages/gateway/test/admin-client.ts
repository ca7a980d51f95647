import { connect } from "@sluice/pulsar";
import type { Client, ClientOptions } from "@sluice/pulsar";
import { onTestFinished } from "vitest";
import { startAdmin } from "../src/admin.ts";
import type { StartAdminOptions } from "../src/admin.ts";
import { startBroker } from "../src/index.ts";
import type { StartBrokerOptions } from "../src/index.ts";

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

export interface AdminScene {
  readonly url: string;
  readonly errors: readonly unknown[];
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answered>;
  readonly connect: (options?: ClientOptions) => Promise<Client>;
}

/** A broker with its administration, both on free ports, until the test ends. */
export async function adminScene(
  brokerOptions: Partial<StartBrokerOptions> = {},
  adminOptions: Partial<StartAdminOptions> = {},
): Promise<AdminScene> {
  const errors: unknown[] = [];
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    ...brokerOptions,
  });
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    broker,
    version: "0.0.0-test",
    onError: (error) => errors.push(error),
    ...adminOptions,
  });
  onTestFinished(async () => {
    await admin.close();
    await broker.close();
  });
  return {
    url: admin.url,
    errors,
    call: (method, path, body, headers) => call(admin.url + path, { method, body, headers }),
    connect: async (clientOptions = {}) => {
      const client = await connect(broker.url, clientOptions);
      onTestFinished(() => client.close());
      return client;
    },
  };
}

async function call(
  url: string,
  {
    method,
    body,
    headers = {},
  }: { method: string; body: unknown; headers: Readonly<Record<string, string>> | undefined },
): Promise<Answered> {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(url, {
    method,
    headers: { ...type, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
