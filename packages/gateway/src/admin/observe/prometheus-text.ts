type Labels = Readonly<Record<string, string>>;

/** Metrics in Prometheus' text format: for each its help, its type, and a line per set of labels. */
export class PrometheusText {
  #text = "";

  add(
    metric: { readonly name: string; readonly help: string; readonly type: "gauge" | "counter" },
    samples: Iterable<readonly [labels: string, value: number]>,
  ): void {
    const { name, help, type } = metric;
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [labels, value] of samples) this.#text += `${name}${labels} ${value}\n`;
  }

  toString(): string {
    return this.#text;
  }
}

/** Labels as text, made once for all metrics of a topic: 26,000 samples took 200 ms otherwise. */
export function labelText(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return "";
  return `{${entries.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`;
}

function escaped(value: string): string {
  return value
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}
