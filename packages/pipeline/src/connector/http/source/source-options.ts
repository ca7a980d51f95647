import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";
import type { Format } from "../../format.ts";
import { isLoopback, parseListenAddress } from "./listen-address.ts";
import type { ListenAddress } from "./listen-address.ts";

export interface HttpSourceOptions {
  /** Host and port, such as `127.0.0.1:8080`; port 0 takes a free one, and an event tells it. */
  readonly listen: string;
  /** Where messages are posted. Default: `/`. */
  readonly path?: string | undefined;
  /**
   * When a request is answered. `acknowledged`: 200 once the sink has all of its messages, so that a client that
   * repeats every other answer loses nothing. `accepted`: 202 as soon as they are in this process's memory; a
   * crash loses them. Default: `acknowledged`.
   */
  readonly respond?: "acknowledged" | "accepted" | undefined;
  /** How messages are read; malformed ones are answered with 400. Default: `json`. */
  readonly format?: Format | undefined;
  /** Bytes of one body; more is answered with 413. Default: 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Messages that wait to be read; requests beyond are answered with 429. Default: 1000. */
  readonly bufferMax?: number | undefined;
  /** Bytes of all bodies together, from their arrival to their acknowledgement. Default: 64 MiB. */
  readonly bufferBytesMax?: number | undefined;
  /** Requests that are received or wait for their answer. Default: 1000. */
  readonly requestsMax?: number | undefined;
  /** Longest time of a request to arrive, and longest wait of its messages for their acknowledgement, ms. Default: 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Clients must send it as a bearer token; needed where other machines reach the address. Default: none. */
  readonly token?: string | undefined;
  /** Without a token: listen beyond this machine, and take requests of web pages. Default: false. */
  readonly allowAnonymous?: boolean | undefined;
  /** Fields of a request that its messages get as headers. Default: `traceparent`, `tracestate`, `baggage`, `content-type`. */
  readonly headers?: readonly string[] | undefined;
}

/** The options, checked, with defaults. */
export interface HttpSourceSettings {
  readonly address: ListenAddress;
  readonly path: string;
  readonly respond: "acknowledged" | "accepted";
  readonly format: Format;
  readonly maxBodyBytes: number;
  readonly bufferMax: number;
  readonly bufferBytesMax: number;
  readonly requestsMax: number;
  readonly timeoutMs: number;
  readonly token: string | undefined;
  /** Whether any caller may post without a token, web pages included. */
  readonly isOpen: boolean;
  readonly headers: readonly string[];
}

const KNOWN: ReadonlySet<string> = new Set<keyof HttpSourceOptions>([
  "listen",
  "path",
  "respond",
  "format",
  "maxBodyBytes",
  "bufferMax",
  "bufferBytesMax",
  "requestsMax",
  "timeoutMs",
  "token",
  "allowAnonymous",
  "headers",
]);
const RESPONSES: ReadonlySet<string> = new Set(["acknowledged", "accepted"]);
const FORMATS: ReadonlySet<string> = new Set<Format>(["bytes", "text", "json"]);
const HEADERS: readonly string[] = ["traceparent", "tracestate", "baggage", "content-type"];
const TOKEN_LENGTH_MIN = 16;
const MIB = 1_048_576;

export function readHttpSourceOptions(options: HttpSourceOptions): HttpSourceSettings {
  requireKnownKeys("httpSource", options, KNOWN);
  const { path = "/", respond = "acknowledged", format = "json", headers = HEADERS } = options;
  const { maxBodyBytes = MIB, bufferMax = 1000, bufferBytesMax = 64 * MIB } = options;
  const { requestsMax = 1000, timeoutMs = 30_000, token, allowAnonymous = false } = options;
  const address = parseListenAddress(options.listen);
  if (!path.startsWith("/") || /[?#\s]/.test(path))
    throw new ConfigError(`path is ${JSON.stringify(path)}; use a path such as "/orders"`);
  if (!RESPONSES.has(respond))
    throw new ConfigError(
      `respond is ${JSON.stringify(respond)}; it must be "acknowledged" or "accepted"`,
    );
  if (!FORMATS.has(format))
    throw new ConfigError(
      `format is ${JSON.stringify(format)}; it must be "json", "text" or "bytes"`,
    );
  requireWhole("maxBodyBytes", maxBodyBytes, 1, 1024 * MIB);
  requireWhole("bufferMax", bufferMax, 1, 1_000_000);
  requireWhole("bufferBytesMax", bufferBytesMax, maxBodyBytes, 1024 * 1024 * MIB);
  requireWhole("requestsMax", requestsMax, 1, 1_000_000);
  requireDuration("timeoutMs", timeoutMs, 1);
  if (token !== undefined && token.length < TOKEN_LENGTH_MIN)
    throw new ConfigError(
      `token has ${token.length} characters; use at least ${TOKEN_LENGTH_MIN}, e.g. of: openssl rand -hex 16`,
    );
  if (token === undefined && !isLoopback(address) && !allowAnonymous)
    throw new ConfigError(
      `listen is "${options.listen}", which other machines reach; set a token, or allowAnonymous: true`,
    );
  return {
    address,
    path,
    respond,
    format,
    maxBodyBytes,
    bufferMax,
    bufferBytesMax,
    requestsMax,
    timeoutMs,
    token,
    isOpen: allowAnonymous,
    headers: headers.map((name) => name.toLowerCase()),
  };
}
