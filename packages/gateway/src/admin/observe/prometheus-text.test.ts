import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";
import { PrometheusText } from "./prometheus-text.ts";

test("a histogram has cumulative buckets that end with +Inf, a sum and a count", () => {
  const histogram = new Histogram([0.1, 1]);
  for (const value of [0.05, 0.5, 0.5, 3]) histogram.record(value);
  const text = new PrometheusText();
  text.addHistogram({ name: "rtt", help: "Round trips." }, [[{ vertex: "out" }, histogram]]);
  expect(text.toString()).toBe(`# HELP rtt Round trips.
# TYPE rtt histogram
rtt_bucket{vertex="out",le="0.1"} 1
rtt_bucket{vertex="out",le="1"} 3
rtt_bucket{vertex="out",le="+Inf"} 4
rtt_sum{vertex="out"} 4.05
rtt_count{vertex="out"} 4
`);
});

test("a histogram without labels has le alone", () => {
  const text = new PrometheusText();
  text.addHistogram({ name: "rtt", help: "Round trips." }, [[{}, new Histogram([1])]]);
  expect(text.toString()).toContain('rtt_bucket{le="1"} 0\n');
  expect(text.toString()).toContain("rtt_sum 0\n");
});

test("quotes, backslashes and line ends of a label are escaped", () => {
  const text = new PrometheusText();
  text.add({ name: "up", help: "Up.", type: "gauge" }, [[{ topic: 'a"b\\c\nd' }, 1]]);
  expect(text.toString()).toContain(String.raw`up{topic="a\"b\\c\nd"} 1`);
});
