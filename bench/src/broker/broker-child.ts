/** A broker in a process of its own: `broker-child.js memory|FOLDER`. It says its address, and ends with its input. */
import { startBroker } from "@sluice/gateway";

const [where = "memory"] = process.argv.slice(2);
const broker = await startBroker({
  listen: "pulsar://127.0.0.1:0",
  data: where === "memory" ? "memory" : { folder: where },
});
process.stdout.write(`${broker.url}\n`);
process.stdin.resume();
process.stdin.once("end", () => {
  void broker.close().then(() => process.exit(0));
});
