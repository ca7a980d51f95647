/** As much of Express as the benchmark uses; it brings no types of its own. */
declare module "express" {
  import type { Server } from "node:http";

  interface App {
    use(middleware: unknown): void;
    get(
      path: string,
      handler: (request: unknown, response: { end(body: string): void }) => void,
    ): void;
    listen(port: number, host: string, onListening: () => void): Server;
  }

  function express(): App;

  export = express;
}
