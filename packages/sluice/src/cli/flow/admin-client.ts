import { SluiceError } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import type { Command } from "commander";
import { bearerTokenOf } from "../../file/content.ts";
import { parseShown } from "../shown-json.ts";

/** The administration of a gateway did not do what was asked. */
export class AdminError extends SluiceError {
  override readonly name = "AdminError";
  readonly code: "BROKER" | "CONNECTION";

  constructor(message: string, code: AdminError["code"] = "BROKER", options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface AdminOptions {
  readonly admin?: string;
  readonly tokenFile?: string;
  readonly json?: true;
}

const ADMIN = "http://127.0.0.1:7070";
const TIMEOUT_MS = 10_000;

/** The options of every command that talks to a running gateway. */
export function withAdminOptions(command: Command): Command {
  return command
    .option("--admin <url>", `administration of the gateway (SLUICE_ADMIN, else ${ADMIN})`)
    .option("--token-file <file>", "a bearer token for the administration")
    .option("--json", "print the answer as one JSON object");
}

export async function adminClient({ admin, tokenFile }: AdminOptions): Promise<AdminClient> {
  const given = admin ?? (process.env["SLUICE_ADMIN"] || ADMIN);
  const url = given.includes("://") ? given : `http://${given}`;
  const token = tokenFile === undefined ? undefined : await bearerTokenOf(tokenFile);
  return new AdminClient(url.replace(/\/+$/, ""), token);
}

interface AdminCall {
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the administration of a running gateway over HTTP. */
export class AdminClient {
  readonly url: string;
  readonly #token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.url = url;
    this.#token = token;
  }

  get(path: string, signal?: AbortSignal): Promise<unknown> {
    return this.#call("GET", path, undefined, signal);
  }

  /** The bytes of an answer that goes on until `signal` aborts. */
  async stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#fetch({ method: "GET", path, signal }, async (response) => {
      if (response.status === 200 && response.body !== null)
        return this.#chunks(response.body, signal);
      this.#answerOf(response.status, await response.text());
      throw this.#notOurs();
    });
  }

  async *#chunks(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, undefined> {
    try {
      yield* body;
    } catch (cause) {
      if (!signal.aborted)
        throw new AdminError(`${this.url} has gone; trying again`, "CONNECTION", { cause });
    }
  }

  put(path: string, body: object): Promise<unknown> {
    return this.#call("PUT", path, JSON.stringify(body));
  }

  delete(path: string): Promise<unknown> {
    return this.#call("DELETE", path);
  }

  async #call(method: string, path: string, body?: string, signal?: AbortSignal): Promise<unknown> {
    return this.#fetch({ method, path, body, signal }, async (response) =>
      this.#answerOf(response.status, await response.text()),
    );
  }

  #answerOf(status: number, text: string): unknown {
    const answer = jsonOf(text);
    if (status >= 200 && status < 300) {
      if (answer === undefined) throw this.#notOurs();
      return answer;
    }
    const { reason } = (answer ?? {}) as { readonly reason?: string };
    if (status === 401)
      throw new AdminError(
        this.#token === undefined
          ? `${this.url} needs a token: ${reason ?? ""}; give --token-file`
          : `${this.url} refuses the token of --token-file: ${reason ?? ""}; give the file that admin.tokenFile names`,
      );
    throw reason === undefined ? this.#notOurs() : new AdminError(reason);
  }

  /** The time limit holds until `read` has what it wants. */
  async #fetch<T>(
    { method, path, body, signal }: AdminCall,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const done = new AbortController();
    void systemTimer.sleep(TIMEOUT_MS, done.signal).then(
      () => late.abort(),
      () => undefined,
    );
    try {
      const response = await fetch(this.url + path, {
        method,
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
        headers: {
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        },
        ...(body !== undefined && { body }),
      });
      return await read(response);
    } catch (cause) {
      if (cause instanceof AdminError) throw cause;
      throw new AdminError(
        `no gateway answers at ${this.url}; start one with sluice run, or give --admin`,
        "CONNECTION",
        { cause },
      );
    } finally {
      done.abort();
    }
  }

  #notOurs(): AdminError {
    return new AdminError(
      `${this.url} is not the administration of a Sluice gateway of this version; give --admin`,
    );
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseShown(text);
  } catch {
    return undefined;
  }
}
