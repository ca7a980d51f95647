import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.pulsar.client.api.AuthenticationFactory;
import org.apache.pulsar.client.api.ClientBuilder;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.ConsumerBuilder;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.MessageRoutingMode;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;
import org.apache.pulsar.client.api.TypedMessageBuilder;
import org.apache.pulsar.shade.com.fasterxml.jackson.databind.JsonNode;
import org.apache.pulsar.shade.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Drives the Java client by one command: Driver &lt;serviceUrl&gt;, with the command as JSON on standard
 * input; answers in JSON lines. What the commands and answers are is written in interop/drivers/driver.ts.
 */
public final class Driver {
  static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) {
    try {
      JsonNode command = JSON.readTree(System.in);
      switch (command.get("command").asText()) {
        case "produce" -> produce(args[0], command);
        case "consume" -> consume(args[0], command);
        case "flood" -> Flood.run(args[0], command);
        case "decode" -> Codec.decode(command);
        case "encode" -> Codec.encode(command);
        case "tour" -> Tour.run(args[0], command);
        case "load" -> load(args[0], command);
        default -> throw new IllegalArgumentException("unknown command");
      }
    } catch (Exception error) {
      say("error", Map.of("message", String.valueOf(error)));
      System.exit(1);
    }
    // Closing the client would take seconds: its threads wait whether more comes.
    System.exit(0);
  }

  /** Loads the classes of the client for an archive of classes. The server need not be there. */
  private static void load(String url, JsonNode command) throws Exception {
    PulsarClient client = connect(url, command);
    client.newProducer().topic("load").createAsync();
    client.newConsumer().topic("load").subscriptionName("load").subscribeAsync();
    TimeUnit.SECONDS.sleep(1);
    say("done", Map.of());
  }

  static void say(String event, Map<String, ?> fields) {
    Map<String, Object> line = new HashMap<>(fields);
    line.put("event", event);
    try {
      System.out.println(JSON.writeValueAsString(line));
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
    System.out.flush();
  }

  static PulsarClient connect(String url, JsonNode command) throws Exception {
    ClientBuilder builder = PulsarClient.builder().serviceUrl(url);
    if (command.has("keepAliveMs"))
      builder.keepAliveInterval(command.get("keepAliveMs").asInt(), TimeUnit.MILLISECONDS);
    if (command.has("token"))
      builder.authentication(AuthenticationFactory.token(command.get("token").asText()));
    if (command.has("caFile"))
      builder
          .tlsTrustCertsFilePath(command.get("caFile").asText())
          .enableTlsHostnameVerification(true);
    return builder.build();
  }

  static byte[] bodyOf(int index, int keys, int sizeBytes) {
    String header =
        "{\"key\":\"k%d\",\"sequence\":%d,\"index\":%d}"
            .formatted(index % keys, index / keys, index);
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    byte[] body = Arrays.copyOf(text, Math.max(text.length, sizeBytes));
    Arrays.fill(body, text.length, body.length, (byte) ' ');
    return body;
  }

  static String idOf(MessageId id) {
    MessageIdAdv parts = (MessageIdAdv) id;
    return parts.getLedgerId()
        + ":" + parts.getEntryId()
        + ":" + parts.getPartitionIndex()
        + ":" + parts.getBatchIndex();
  }

  private static void produce(String url, JsonNode command) throws Exception {
    PulsarClient client = connect(url, command);
    Producer<byte[]> producer =
        client
            .newProducer()
            .topic(command.get("topic").asText())
            .enableBatching(command.get("batching").asBoolean())
            .batchingMaxMessages(500)
            .batchingMaxPublishDelay(5, TimeUnit.MILLISECONDS)
            .blockIfQueueFull(true)
            .maxPendingMessages(1000)
            .messageRoutingMode(MessageRoutingMode.SinglePartition)
            .compressionType(
                CompressionType.valueOf(textOf(command, "compression", "none").toUpperCase()))
            .create();
    int count = command.get("count").asInt();
    int start = intOf(command, "start", 0);
    int keys = intOf(command, "keys", 1);
    int sizeBytes = command.get("sizeBytes").asInt();
    byte[][] bodies = new byte[count][];
    for (int at = 0; at < count; at++) bodies[at] = bodyOf(start + at, keys, sizeBytes);
    say("ready", Map.of());
    List<CompletableFuture<MessageId>> receipts = new ArrayList<>(count);
    long startedNs = System.nanoTime();
    for (int index = start; index < start + count; index++) {
      TypedMessageBuilder<byte[]> message = producer.newMessage();
      message.value(bodies[index - start]);
      if (command.has("keys")) message.key("k" + index % keys);
      if (command.has("properties"))
        command
            .get("properties")
            .properties()
            .forEach(entry -> message.property(entry.getKey(), entry.getValue().asText()));
      receipts.add(message.sendAsync());
    }
    producer.flush();
    for (CompletableFuture<MessageId> receipt : receipts) receipt.get();
    double ms = (System.nanoTime() - startedNs) / 1e6;
    producer.close();
    boolean isListed = command.has("list") && command.get("list").asBoolean();
    List<String> ids = new ArrayList<>();
    if (isListed) for (CompletableFuture<MessageId> receipt : receipts) ids.add(idOf(receipt.get()));
    say("done", Map.of("sent", count, "messageIds", ids, "ms", ms));
  }

  private static void consume(String url, JsonNode command) throws Exception {
    PulsarClient client = connect(url, command);
    Consumer<byte[]> consumer = subscribe(client, command);
    say("ready", Map.of());
    int count = command.get("count").asInt();
    int nackEvery = intOf(command, "nackEvery", 0);
    String ack = command.get("ack").asText();
    boolean isListed = command.has("list") && command.get("list").asBoolean();
    Tally tally = new Tally();
    Message<byte[]> last = null;
    long startedNs = System.nanoTime();
    long untilNs = startedNs + command.get("timeoutMs").asLong() * 1_000_000;
    for (int accepted = 0; accepted < count; ) {
      int leftMs = (int) Math.max(1, (untilNs - System.nanoTime()) / 1_000_000);
      Message<byte[]> message = consumer.receive(leftMs, TimeUnit.MILLISECONDS);
      if (message == null) break;
      boolean isNew = tally.add(message);
      if (isListed) say("message", seen(message));
      if (isNew && nackEvery > 0 && tally.received % nackEvery == 0) {
        consumer.negativeAcknowledge(message);
        continue;
      }
      accepted++;
      last = message;
      if (ack.equals("individual")) consumer.acknowledgeAsync(message);
    }
    double ms = (System.nanoTime() - startedNs) / 1e6;
    if (ack.equals("cumulative") && last != null) consumer.acknowledgeCumulative(last);
    boolean isAborted = command.has("abort") && command.get("abort").asBoolean();
    if (!isAborted) consumer.close();
    Map<String, Object> outcome = tally.outcome();
    outcome.put("ms", ms);
    say("done", outcome);
    if (isAborted) Runtime.getRuntime().halt(0);
  }

  private static Consumer<byte[]> subscribe(PulsarClient client, JsonNode command)
      throws Exception {
    String position = textOf(command, "initialPosition", "earliest");
    String type = command.get("type").asText();
    ConsumerBuilder<byte[]> builder =
        client
            .newConsumer()
            .subscriptionName(command.get("subscription").asText())
            .subscriptionType(
                SubscriptionType.valueOf(type.substring(0, 1).toUpperCase() + type.substring(1)))
            .subscriptionInitialPosition(
                position.equals("earliest")
                    ? SubscriptionInitialPosition.Earliest
                    : SubscriptionInitialPosition.Latest)
            .receiverQueueSize(intOf(command, "queue", 1000))
            .negativeAckRedeliveryDelay(100, TimeUnit.MILLISECONDS);
    if (command.has("topic")) return builder.topic(command.get("topic").asText()).subscribe();
    if (command.has("pattern"))
      return builder.topicsPattern(Pattern.compile(command.get("pattern").asText())).subscribe();
    List<String> topics = new ArrayList<>();
    command.get("topics").forEach(topic -> topics.add(topic.asText()));
    return builder.topics(topics).subscribe();
  }

  private static Map<String, Object> seen(Message<byte[]> message) {
    Map<String, Object> fields = new HashMap<>();
    fields.put("body", Base64.getEncoder().encodeToString(message.getData()));
    fields.put("key", message.hasKey() ? message.getKey() : null);
    fields.put("properties", message.getProperties());
    fields.put("messageId", idOf(message.getMessageId()));
    fields.put("redeliveryCount", message.getRedeliveryCount());
    return fields;
  }

  private static String textOf(JsonNode command, String name, String otherwise) {
    return command.has(name) ? command.get(name).asText() : otherwise;
  }

  private static int intOf(JsonNode command, String name, int otherwise) {
    return command.has(name) ? command.get(name).asInt() : otherwise;
  }

  /** Counts what arrives. The digest is over the bodies in the order of their index, each once. */
  private static final class Tally {
    int received;
    private int duplicates;
    private int orderBroken;
    private int redelivered;
    private final TreeMap<Integer, byte[]> bodies = new TreeMap<>();
    private final Map<String, Integer> last = new HashMap<>();

    boolean add(Message<byte[]> message) throws Exception {
      JsonNode header = JSON.readTree(message.getData());
      int index = header.get("index").asInt();
      received++;
      if (message.getRedeliveryCount() > 0) redelivered++;
      if (bodies.putIfAbsent(index, message.getData()) != null) {
        duplicates++;
        return false;
      }
      int sequence = header.get("sequence").asInt();
      Integer before = last.put(header.get("key").asText(), sequence);
      if (before != null && sequence <= before) orderBroken++;
      return true;
    }

    Map<String, Object> outcome() throws Exception {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      bodies.values().forEach(digest::update);
      Map<String, Object> fields = new HashMap<>();
      fields.put("received", received);
      fields.put("distinct", bodies.size());
      fields.put("digest", HexFormat.of().formatHex(digest.digest()));
      fields.put("perKeyOrderBroken", orderBroken);
      fields.put("duplicates", duplicates);
      fields.put("redelivered", redelivered);
      return fields;
    }
  }
}
