// The map of `npm start`: an order becomes a payment. The pipeline calls it for each message.
export default function enrich(message) {
  const { order, total } = message.value;
  return { value: { order, cents: Math.round(total * 100), currency: "EUR" } };
}
