import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** What `sluice simulate --html` writes into each report: one script and one style sheet. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  logLevel: "warn",
  plugins: [
    {
      name: "report-style",
      transform: (code, id) =>
        id.endsWith("/report/report.tsx") ? `${code}\nimport "./report.css";` : undefined,
    },
  ],
  build: {
    outDir: "../dist/report-page",
    emptyOutDir: true,
    target: "es2022",
    lib: {
      entry: fileURLToPath(new URL("src/report/report.tsx", import.meta.url)),
      formats: ["iife"],
      name: "sluiceReport",
      fileName: () => "report.js",
      cssFileName: "report",
    },
  },
});
