/** As much of Express as the benchmark uses; it brings no types of its own. */
declare module "express" {
  import type { RequestListener } from "node:http";

  interface App extends RequestListener {
    use(middleware: unknown): void;
    get(
      path: string,
      handler: (request: unknown, response: { end(body: string): void }) => void,
    ): void;
  }

  function express(): App;

  export = express;
}
