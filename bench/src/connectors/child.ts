/** Measures one connector in a process of its own: its name and the number of messages are the arguments. */
import { carry } from "./carry.ts";
import { PLACES } from "./places.ts";

const [name = "", count = ""] = process.argv.slice(2);
const place = await PLACES[name]?.();
if (place === undefined || typeof place === "string")
  console.log(JSON.stringify(place ?? "unknown"));
else
  try {
    console.log(JSON.stringify(await carry(place, Number(count))));
  } finally {
    await place.close();
  }
