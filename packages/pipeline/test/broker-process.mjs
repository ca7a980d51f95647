/** A broker in a process of its own, so that a test can kill it. Prints its port; arguments: folder, listen. */
import { startBroker } from "@sluice/gateway";

const [folder, listen] = process.argv.slice(2);
const broker = await startBroker({ listen, data: { folder } });
console.log(broker.port);
process.once("SIGTERM", () => void broker.close().then(() => process.exit(0)));
