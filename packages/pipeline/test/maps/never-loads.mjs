/** A module that never ends loading. Its open port keeps the thread alive meanwhile. */
import { createServer } from "node:net";

createServer().listen(0, "127.0.0.1");
await new Promise(() => {});
export default () => undefined;
