/**
 * Schemas of resources that are not Kubernetes' own, with the keys of their makers' definitions as far as one may
 * want them here (KEDA 2: ScaledObject and TriggerAuthentication; Prometheus' operator: ServiceMonitor). Another key
 * is a mistake.
 */
const text = { type: "string", minLength: 1 } as const;
const count = { type: "integer", minimum: 0 } as const;

function object(properties: Readonly<Record<string, object>>, required: readonly string[]): object {
  return { type: "object", additionalProperties: false, properties, required };
}

function resource(apiVersion: string, kind: string, spec: object): object {
  const labels = { type: "object", additionalProperties: text };
  const metadata = object({ name: text, namespace: text, labels, annotations: labels }, ["name"]);
  return object({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec }, [
    "apiVersion",
    "kind",
    "metadata",
    "spec",
  ]);
}

const metadataOfMetricsApi = object(
  {
    url: { type: "string", pattern: "^https?://" },
    valueLocation: text,
    targetValue: { type: "string", pattern: String.raw`^\d+(\.\d+)?$` },
    activationTargetValue: { type: "string", pattern: String.raw`^\d+(\.\d+)?$` },
    format: { enum: ["json", "xml", "yaml", "prometheus"] },
    authMode: { enum: ["apiKey", "basic", "tls", "bearer"] },
    unsafeSsl: { enum: ["true", "false"] },
  },
  ["url", "valueLocation", "targetValue"],
);

const trigger = object(
  {
    type: { const: "metrics-api" },
    name: text,
    metricType: { enum: ["AverageValue", "Value"] },
    useCachedMetrics: { type: "boolean" },
    metadata: metadataOfMetricsApi,
    authenticationRef: object(
      { name: text, kind: { enum: ["TriggerAuthentication", "ClusterTriggerAuthentication"] } },
      ["name"],
    ),
  },
  ["type", "metadata"],
);

const scalingRules = object({ stabilizationWindowSeconds: count }, []);
/** Of Kubernetes' HorizontalPodAutoscaler v2. */
const hpaBehavior = object({ scaleUp: scalingRules, scaleDown: scalingRules }, []);

const secretKey = object({ name: text, key: text, optional: { type: "boolean" } }, ["name", "key"]);

export const CRD_SCHEMAS: Readonly<Record<string, object>> = {
  ScaledObject: resource(
    "keda.sh/v1alpha1",
    "ScaledObject",
    object(
      {
        scaleTargetRef: object({ apiVersion: text, kind: text, name: text }, ["name"]),
        pollingInterval: count,
        cooldownPeriod: count,
        initialCooldownPeriod: count,
        idleReplicaCount: count,
        minReplicaCount: count,
        maxReplicaCount: count,
        fallback: object({ failureThreshold: count, replicas: count }, [
          "failureThreshold",
          "replicas",
        ]),
        advanced: object(
          {
            restoreToOriginalReplicaCount: { type: "boolean" },
            horizontalPodAutoscalerConfig: object({ behavior: hpaBehavior }, []),
          },
          [],
        ),
        triggers: { type: "array", minItems: 1, items: trigger },
      },
      ["scaleTargetRef", "triggers"],
    ),
  ),
  TriggerAuthentication: resource(
    "keda.sh/v1alpha1",
    "TriggerAuthentication",
    object(
      {
        secretTargetRef: {
          type: "array",
          minItems: 1,
          items: object({ parameter: text, name: text, key: text }, ["parameter", "name", "key"]),
        },
      },
      ["secretTargetRef"],
    ),
  ),
  ServiceMonitor: resource(
    "monitoring.coreos.com/v1",
    "ServiceMonitor",
    object(
      {
        jobLabel: text,
        selector: object({ matchLabels: { type: "object", additionalProperties: text } }, [
          "matchLabels",
        ]),
        endpoints: {
          type: "array",
          minItems: 1,
          items: object(
            {
              port: text,
              path: text,
              scheme: { enum: ["http", "https"] },
              interval: { type: "string", pattern: "^[0-9]+(ms|s|m|h)$" },
              authorization: object({ type: text, credentials: secretKey }, ["credentials"]),
            },
            ["port"],
          ),
        },
      },
      ["selector", "endpoints"],
    ),
  ),
};
