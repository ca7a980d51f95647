export function buildSite(options: {
  readonly root: string;
  readonly out: string;
}): readonly string[];
