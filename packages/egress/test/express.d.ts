/** As much of Express as the tests use; it brings no types of its own. */
declare module "express" {
  import type { IncomingMessage, Server, ServerResponse } from "node:http";

  type Next = (error?: unknown) => void;

  interface Request extends IncomingMessage {
    readonly ip: string | undefined;
  }

  interface App {
    (request: IncomingMessage, response: ServerResponse): void;
    use(handler: (request: Request, response: ServerResponse, next: Next) => unknown): void;
    use(
      handler: (error: Error, request: Request, response: ServerResponse, next: Next) => unknown,
    ): void;
    get(
      path: string,
      handler: (request: Request, response: ServerResponse, next: Next) => unknown,
    ): void;
    set(name: string, value: unknown): void;
    listen(port: number, host: string, onListening: () => void): Server;
  }

  function express(): App;

  export = express;
}
