import type { HistogramCounts, Labels, MetricsWriter } from "@sluice/gateway/admin";
import type { GateCounts } from "./gate-counts.ts";

type Series = readonly (readonly [Labels, number])[];

/** Name, help, and the values of one gate. Names are Vector's where it has one. */
type Row<T> = readonly [name: string, help: string, of: (counts: GateCounts) => T];

const HISTOGRAMS: readonly Row<HistogramCounts>[] = [
  [
    "adaptive_concurrency_limit",
    "The concurrency limit at every decision on it.",
    ({ limits }) => limits,
  ],
  [
    "adaptive_concurrency_in_flight",
    "Requests in flight at every start and end of one.",
    ({ inFlights }) => inFlights,
  ],
  [
    "adaptive_concurrency_observed_rtt",
    "Seconds that requests took which were served.",
    ({ observedRtts }) => observedRtts,
  ],
  [
    "adaptive_concurrency_averaged_rtt",
    "Seconds of the round trip that a decision on the limit rests on.",
    ({ averagedRtts }) => averagedRtts,
  ],
  [
    "sluice_gate_wait_seconds",
    "Seconds that requests waited before they were sent.",
    ({ waits }) => waits,
  ],
];

const GAUGES: readonly Row<number | undefined>[] = [
  ["sluice_gate_limit", "Requests that may be in flight.", ({ limit }) => limit],
  ["sluice_gate_in_flight", "Requests in flight.", ({ inFlight }) => inFlight],
];

const COUNTERS: readonly Row<Series>[] = [
  ["sluice_gate_cuts_total", "Cuts of the rate after busy answers.", ({ cuts }) => [[{}, cuts]]],
  [
    "sluice_gate_limited_total",
    "Requests that had to wait, by reason: the RFC's counter of limited requests.",
    ({ limited }) => [...limited].map(([reason, count]) => [{ reason }, count]),
  ],
  [
    "sluice_gate_requests_total",
    "Requests by their outcome: ok, busy, failed, ignored.",
    ({ outcomes }) => [...outcomes].map(([outcome, count]) => [{ outcome }, count]),
  ],
  [
    "sluice_gate_limit_decisions_total",
    "Decisions on the concurrency limit, by cause and direction (up, down, same).",
    ({ decisions }) =>
      [...decisions].map(([key, count]) => {
        const [cause = "", direction = ""] = key.split(" ");
        return [{ cause, direction }, count];
      }),
  ],
];

/** A gate with the labels of its vertex. */
interface LabelledGate {
  readonly labels: Labels;
  readonly counts: GateCounts;
}

export function addGateMetrics(to: MetricsWriter, gates: readonly LabelledGate[]): void {
  for (const [name, help, of] of HISTOGRAMS)
    to.addHistogram(
      { name, help },
      gates.map(({ labels, counts }) => [labels, of(counts)]),
    );
  for (const [name, help, of] of GAUGES)
    to.add(
      { name, help, type: "gauge" },
      gates.flatMap(({ labels, counts }) => {
        const value = of(counts);
        return value === undefined ? [] : [[labels, value] as const];
      }),
    );
  for (const [name, help, of] of COUNTERS)
    to.add(
      { name, help, type: "counter" },
      gates.flatMap(({ labels, counts }) =>
        of(counts).map(([own, count]) => [{ ...labels, ...own }, count] as const),
      ),
    );
}
