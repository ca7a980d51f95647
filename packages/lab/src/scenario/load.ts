import { KINDS } from "../kind/kinds.ts";
import { parseFileDocument } from "../file/document.ts";
import type { Scenario } from "./kind.ts";
import { scenarioOf } from "./scenario-of.ts";

/**
 * Checks the text of a scenario file, YAML or JSON, and returns it ready to run with `simulate`.
 *
 * @param text the content of the file
 * @param file its name, for error messages only
 * @throws ConfigError with one line: file, line, what was found and what is expected
 * @example
 * const scenario = loadScenario(await readFile("burst.yaml", "utf8"), "burst.yaml");
 * const { result } = await simulate(scenario);
 */
export function loadScenario(text: string, file: string): Scenario {
  return scenarioOf(parseFileDocument(text, file), file, KINDS);
}
