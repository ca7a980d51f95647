type Labels = Readonly<Record<string, string>>;

/** One metric in Prometheus' text format: its help, its type, and a line for each set of labels. */
export class PrometheusText {
  #text = "";

  add(
    metric: { readonly name: string; readonly help: string; readonly type: "gauge" | "counter" },
    samples: Iterable<readonly [Labels, number]>,
  ): void {
    const { name, help, type } = metric;
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [labels, value] of samples) this.#text += `${name}${labelText(labels)} ${value}\n`;
  }

  toString(): string {
    return this.#text;
  }
}

function labelText(labels: Labels): string {
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
