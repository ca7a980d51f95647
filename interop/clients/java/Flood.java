import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.ProducerBuilder;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.shade.com.fasterxml.jackson.databind.JsonNode;

/** Several producers of one client, each as fast as it may or at a steady rate; see interop/drivers/flood.ts. */
final class Flood {
  static void run(String url, JsonNode command) throws Exception {
    PulsarClient client = Driver.connect(url, command);
    List<Flow> flows = new ArrayList<>();
    for (JsonNode told : command.get("flows")) flows.add(new Flow(client, told));
    Driver.say("ready", Map.of());
    long startedNs = System.nanoTime();
    long untilNs = startedNs + command.get("durationMs").asLong() * 1_000_000;
    List<Thread> threads = new ArrayList<>();
    for (Flow flow : flows) threads.add(new Thread(() -> flow.run(startedNs, untilNs)));
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    Driver.say("done", Map.of("flows", flows.stream().map(Flow::outcome).toList()));
  }

  /** One producer, and when its receipts came. */
  private static final class Flow {
    private final Producer<byte[]> producer;
    private final double ratePerSecond;
    private final long fromNs;
    private final int sizeBytes;
    private final List<Double> receiptAtMs = new ArrayList<>();
    private final List<Double> latencyMs = new ArrayList<>();
    private int sent;
    private int failed;
    private String error = "";

    Flow(PulsarClient client, JsonNode told) throws Exception {
      ProducerBuilder<byte[]> builder =
          client
              .newProducer()
              .topic(told.get("topic").asText())
              .enableBatching(told.get("batching").asBoolean())
              .blockIfQueueFull(true);
      if (told.has("maxPending")) builder.maxPendingMessages(told.get("maxPending").asInt());
      producer = builder.create();
      ratePerSecond = told.has("ratePerSecond") ? told.get("ratePerSecond").asDouble() : 0;
      fromNs = told.has("fromMs") ? told.get("fromMs").asLong() * 1_000_000 : 0;
      sizeBytes = told.get("sizeBytes").asInt();
    }

    void run(long startedNs, long untilNs) {
      try {
        send(startedNs, untilNs);
        producer.flush();
        while (settled() < sent) TimeUnit.MILLISECONDS.sleep(10);
      } catch (Exception thrown) {
        onFailure(thrown);
      }
    }

    private void send(long startedNs, long untilNs) throws Exception {
      long beginNs = startedNs + fromNs;
      TimeUnit.NANOSECONDS.sleep(beginNs - System.nanoTime());
      while (true) {
        long nowNs = System.nanoTime();
        long dueNs = ratePerSecond == 0 ? nowNs : beginNs + (long) (sent / ratePerSecond * 1e9);
        if (nowNs >= untilNs || dueNs >= untilNs) return;
        if (dueNs > nowNs) TimeUnit.NANOSECONDS.sleep(dueNs - nowNs);
        byte[] body = Driver.bodyOf(sent, 1, sizeBytes);
        long sentNs = System.nanoTime();
        sent++;
        producer
            .sendAsync(body)
            .whenComplete(
                (id, thrown) -> {
                  if (thrown == null) onReceipt(startedNs, sentNs);
                  else onFailure(thrown);
                });
      }
    }

    private synchronized void onReceipt(long startedNs, long sentNs) {
      long nowNs = System.nanoTime();
      receiptAtMs.add((nowNs - startedNs) / 1e6);
      latencyMs.add((nowNs - sentNs) / 1e6);
    }

    private synchronized void onFailure(Throwable thrown) {
      failed++;
      if (error.isEmpty()) error = String.valueOf(thrown);
    }

    private synchronized int settled() {
      return receiptAtMs.size() + failed;
    }

    synchronized Map<String, Object> outcome() {
      return Map.of(
          "sent", sent,
          "failed", failed,
          "error", error,
          "receiptAtMs", receiptAtMs,
          "latencyMs", latencyMs);
    }
  }
}
