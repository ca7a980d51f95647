/** The Grafana dashboard of `deploy/`, as tests look at it. */
import { read } from "./tree.ts";

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: { readonly uid: string };
  }[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

export const DASHBOARD = "deploy/grafana/sluice.json";

/** What Grafana puts in for each variable if everything is chosen, and for intervals with a scrape each second. */
const CHOSEN: Readonly<Record<string, string>> = {
  job: ".*",
  instance: ".*",
  topic: ".*",
  pipeline: ".*",
  __rate_interval: "10s",
  __range: "1m",
};

export function dashboard(): Dashboard {
  return JSON.parse(read(DASHBOARD)) as Dashboard;
}

/** Every query, with its panel's title, as Prometheus gets it. A variable that is not known here stays, and is an error there. */
export function dashboardQueries(): readonly { readonly panel: string; readonly expr: string }[] {
  return dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ panel: title, expr: withChosen(expr) })),
  );
}

/** The queries of variables: label_values(METRIC, LABEL). */
export function dashboardVariables(): readonly {
  readonly name: string;
  readonly label: string;
  readonly metric: string;
}[] {
  return dashboard().templating.list.flatMap(({ name, definition }) => {
    const [, metric, label] = /^label_values\((.*), (\w+)\)$/.exec(definition ?? "") ?? [];
    return metric === undefined || label === undefined
      ? []
      : [{ name, label, metric: withChosen(metric) }];
  });
}

function withChosen(text: string): string {
  return text.replaceAll(/\$(\w+)/g, (variable, name: string) => CHOSEN[name] ?? variable);
}
