import { fileURLToPath } from "node:url";
import { createLogger, defineConfig } from "vite";

const logger = createLogger("warn");
const warn = logger.warn.bind(logger);
// The lab's worker never calls what compresses or looks up addresses: Vite's empty modules are enough, and the first
// `npm start` is quiet.
logger.warn = (message, options) => {
  if (!message.includes("externalized for browser compatibility")) warn(message, options);
};

/** The page that `sluice run` serves: one bundle, without a reference to any other host. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/",
  logLevel: "warn",
  customLogger: logger,
  // The worker of the lab loads each kind of scenario when it is first run.
  worker: { format: "es" },
  build: {
    outDir: "../dist/page",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows no inline data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // On a slow machine the bundler would print where its time goes; what the build prints is a fault.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
