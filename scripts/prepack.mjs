// Copies into a package what its tarball must hold and the repository keeps once: the license, and for the
// command line the scenarios. npm runs it in the package's folder, before packing and with --undo after it.
import { cpSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const folder = process.cwd();
const copied = basename(folder) === "sluice" ? ["LICENSE", "scenarios"] : ["LICENSE"];

for (const name of copied) {
  const target = join(folder, name);
  if (process.argv.includes("--undo")) rmSync(target, { recursive: true, force: true });
  else cpSync(join(root, name), target, { recursive: true });
}
