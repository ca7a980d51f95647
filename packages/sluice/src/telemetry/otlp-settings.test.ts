import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { otlpSettingsOf } from "./otlp-settings.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

test("without an endpoint, and where metrics are turned off, nothing is exported", () => {
  expect(otlpSettingsOf({})).toBeUndefined();
  expect(otlpSettingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: " " })).toBeUndefined();
  expect(otlpSettingsOf({ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" })).toBeUndefined();
  expect(otlpSettingsOf({ ...ENDPOINT, OTEL_METRICS_EXPORTER: "none" })).toBeUndefined();
});

test("an endpoint alone has the defaults of OpenTelemetry", () => {
  expect(otlpSettingsOf(ENDPOINT)).toEqual({
    url: "http://127.0.0.1:4318/v1/metrics",
    headers: {},
    intervalMs: 60_000,
    timeoutMs: 10_000,
    isCompressed: false,
    resource: { "service.name": "sluice" },
  });
});

test("variables of metrics go before those of all signals, and their endpoint is taken as it is", () => {
  const settings = otlpSettingsOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1/base/",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://127.0.0.1:2/write",
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=all",
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: "api-key=a%20b, x=1=2",
    OTEL_EXPORTER_OTLP_TIMEOUT: "1000",
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: "2000",
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: "gzip",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/protobuf",
    OTEL_METRIC_EXPORT_INTERVAL: "5000",
    OTEL_SERVICE_NAME: "shop",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment=prod",
  });
  expect(settings).toEqual({
    url: "http://127.0.0.1:2/write",
    headers: { "api-key": "a b", x: "1=2" },
    intervalMs: 5_000,
    timeoutMs: 2_000,
    isCompressed: true,
    resource: { "service.name": "shop", "deployment.environment": "prod" },
  });
});

test("the endpoint of all signals keeps its path before that of metrics", () => {
  const settings = otlpSettingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://a.example/base/" });
  expect(settings?.url).toBe("https://a.example/base/v1/metrics");
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://hunter2"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:hunter2@127.0.0.1:4318"],
  ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "hunter2"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "hunter2"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=hunter2%"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=hunter2%0Ab"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a b=hunter2"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "10s"],
  ["OTEL_METRIC_EXPORT_INTERVAL", "0"],
])("a wrong %s is an error that names it and shows no secret: %s", (name, value) => {
  const environment = { ...ENDPOINT, [name]: value };
  expect(() => otlpSettingsOf(environment)).toThrow(ConfigError);
  expect(() => otlpSettingsOf(environment)).toThrow(new RegExp(`^${name} (?!.*hunter2)`));
});
