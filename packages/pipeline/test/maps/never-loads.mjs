/** A module that waits for a server that never answers, while it loads. */
setInterval(() => {}, 1_000);
await new Promise(() => {});
export default () => undefined;
