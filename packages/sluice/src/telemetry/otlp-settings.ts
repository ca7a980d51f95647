import { ConfigError } from "@sluice/core";
import type { Labels } from "@sluice/gateway/admin";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where metrics go, as the variables of OpenTelemetry say. */
export interface OtlpSettings {
  readonly url: string;
  readonly headers: Labels;
  readonly intervalMs: number;
  /** Of one export, from its connection to its answer. */
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** Attributes of the resource, `service.name` among them. */
  readonly resource: Labels;
}

/** The default of OpenTelemetry. Shorter: a finer picture, more traffic. */
const INTERVAL_MS = 60_000;
/** The default of OpenTelemetry. */
const TIMEOUT_MS = 10_000;
/** Below it a collection of 26,000 series would overlap with the next one. */
const INTERVAL_MIN_MS = 100;

/**
 * What OpenTelemetry's variables ask for; undefined if they name no endpoint, or turn metrics off. Variables of
 * metrics, as `OTEL_EXPORTER_OTLP_METRICS_HEADERS`, go before those of all signals.
 *
 * @throws ConfigError with the variable that is wrong
 */
export function otlpSettingsOf(environment: Environment): OtlpSettings | undefined {
  const given = (name: string): string | undefined => {
    const value = environment[name]?.trim();
    return value === "" ? undefined : value;
  };
  if (given("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  if (given("OTEL_METRICS_EXPORTER") === "none") return undefined;
  const url = urlOf(given);
  if (url === undefined) return undefined;
  const signal = (name: string): readonly [string, string | undefined] => {
    const own = `OTEL_EXPORTER_OTLP_METRICS_${name}`;
    const value = given(own);
    return value === undefined
      ? [`OTEL_EXPORTER_OTLP_${name}`, given(`OTEL_EXPORTER_OTLP_${name}`)]
      : [own, value];
  };
  requireHttp(...signal("PROTOCOL"));
  const resource = pairsOf("OTEL_RESOURCE_ATTRIBUTES", given("OTEL_RESOURCE_ATTRIBUTES"));
  const service = given("OTEL_SERVICE_NAME") ?? resource["service.name"] ?? "sluice";
  return {
    url,
    headers: headersOf(...signal("HEADERS")),
    timeoutMs: msOf(...signal("TIMEOUT"), 1) ?? TIMEOUT_MS,
    intervalMs:
      msOf("OTEL_METRIC_EXPORT_INTERVAL", given("OTEL_METRIC_EXPORT_INTERVAL"), INTERVAL_MIN_MS) ??
      INTERVAL_MS,
    isCompressed: isGzip(...signal("COMPRESSION")),
    resource: { ...resource, "service.name": service },
  };
}

function urlOf(given: (name: string) => string | undefined): string | undefined {
  // The endpoint of metrics is taken as it is; that of all signals gets the path of metrics.
  const own = given("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
  if (own !== undefined) return checkedUrl("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", own).href;
  const all = given("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (all === undefined) return undefined;
  const url = checkedUrl("OTEL_EXPORTER_OTLP_ENDPOINT", all);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/metrics`;
  return url.href;
}

/** Messages do not show the value: a URL may hold a key. */
function checkedUrl(name: string, value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    throw new ConfigError(
      `${name} is no URL of HTTP; expected an address such as http://127.0.0.1:4318`,
    );
  if (url.username !== "" || url.password !== "")
    throw new ConfigError(
      `${name} holds a login; put it into OTEL_EXPORTER_OTLP_HEADERS, as authorization=Basic%20…`,
    );
  return url;
}

function requireHttp(name: string, protocol: string | undefined): void {
  // A receiver of http/protobuf reads JSON at the same address, by the header content-type.
  if (protocol === undefined || protocol === "http/json" || protocol === "http/protobuf") return;
  throw new ConfigError(
    `${name} is ${protocol}; expected http/json, with an endpoint such as http://127.0.0.1:4318`,
  );
}

function isGzip(name: string, compression = "none"): boolean {
  if (compression === "gzip" || compression === "none") return compression === "gzip";
  throw new ConfigError(`${name} is ${compression}; expected gzip or none`);
}

function msOf(name: string, value: string | undefined, min: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value) && Number(value) >= min) return Number(value);
  throw new ConfigError(`${name} is ${value}; expected milliseconds, at least ${min}`);
}

/** `key1=value1,key2=value2`, with values in percent-encoding. Messages do not show values: headers hold keys. */
function pairsOf(name: string, value = ""): Labels {
  const pairs: Record<string, string> = {};
  for (const part of value.split(",")) {
    if (part.trim() === "") continue;
    const [key = "", ...rest] = part.split("=");
    if (key.trim() === "" || rest.length === 0)
      throw new ConfigError(`${name} has a part without =; expected key1=value1,key2=value2`);
    pairs[key.trim()] = decoded(name, rest.join("=").trim());
  }
  return pairs;
}

/** Checked here: `fetch` would fail at every export, with the value in its message. */
function headersOf(name: string, value: string | undefined): Labels {
  const headers = pairsOf(name, value);
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    throw new ConfigError(
      `${name} has a name or a value that no header of HTTP can have; expected printable ASCII, as api-key=a%20b`,
    );
  }
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new ConfigError(
      `${name} has a value that is no percent-encoding; write %25 for a percent sign`,
    );
  }
}
