import { requireDuration, requireKnownKeys, requireWhole } from "@sluice/core/internal";

/** What one client of the HTTP server can cost. */
export interface HttpLimits {
  /** Bytes of a request's body; more is answered with 413. 1 MiB. */
  readonly bodyBytesMax: number;
  /** Bytes of a request's line and headers; more is answered with 431. 16 KiB. */
  readonly headerBytesMax: number;
  /** From the first byte of a request to the end of its headers; then 408. 10 s. */
  readonly headersMs: number;
  /** From the first byte of a request to its last; then 408. 30 s. */
  readonly requestMs: number;
  /** A connection on which no byte moves is closed. Event streams have a heartbeat. 60 s. */
  readonly idleMs: number;
  /** From the request's last byte to the answer; then 503. 30 s. */
  readonly answerMs: number;
  /** Connections; more are closed at once. 256. */
  readonly connectionsMax: number;
  /** Requests being answered, of all connections; more are answered with 503. 256. */
  readonly requestsMax: number;
  /** Event streams, which last; more are answered with 503, so that probes and scrapes find a connection. 64. */
  readonly streamsMax: number;
}

const DEFAULTS: HttpLimits = {
  bodyBytesMax: 1024 * 1024,
  headerBytesMax: 16 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 60_000,
  answerMs: 30_000,
  connectionsMax: 256,
  requestsMax: 256,
  streamsMax: 64,
};

const KNOWN: ReadonlySet<string> = new Set(Object.keys(DEFAULTS));

export function httpLimits(given: Partial<HttpLimits> = {}): HttpLimits {
  requireKnownKeys("limits of administration", given, KNOWN);
  const limits = { ...DEFAULTS, ...given };
  requireWhole("bodyBytesMax", limits.bodyBytesMax, 1);
  requireWhole("headerBytesMax", limits.headerBytesMax, 1024);
  requireWhole("connectionsMax", limits.connectionsMax, 1);
  requireWhole("requestsMax", limits.requestsMax, 1);
  requireWhole("streamsMax", limits.streamsMax, 1);
  for (const name of ["headersMs", "requestMs", "idleMs", "answerMs"] as const)
    requireDuration(name, limits[name], 1);
  return limits;
}
