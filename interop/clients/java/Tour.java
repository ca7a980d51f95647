import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.pulsar.client.api.BatchReceivePolicy;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionInitialPosition;
import org.apache.pulsar.client.api.SubscriptionType;
import org.apache.pulsar.shade.com.fasterxml.jackson.databind.JsonNode;

/** Uses as many commands of the protocol as a client can cause, a few messages each. */
final class Tour {
  static void run(String url, JsonNode command) throws Exception {
    String topic = command.get("topic").asText();
    PulsarClient client = Driver.connect(url, command);
    produce(client, topic);
    consume(client, topic);
    share(client, topic);
    refuse(client, topic);
    readAndMatch(client, topic);
    write(client, topic + "-schema");
    if (command.has("adminUrl")) administer(client, command.get("adminUrl").asText(), topic);
    // Longer than keepAliveMs, so that the client asks for a sign of life.
    if (command.has("keepAliveMs")) Thread.sleep(2L * command.get("keepAliveMs").asInt());
    client.close();
    Driver.say("done", Map.of());
  }

  private static void produce(PulsarClient client, String topic) throws Exception {
    try (Producer<byte[]> single =
        client.newProducer().topic(topic).enableBatching(false).producerName("single").create()) {
      single.newMessage().value("plain".getBytes()).send();
      single
          .newMessage()
          .key("key")
          .orderingKey("order".getBytes())
          .property("name", "value")
          .eventTime(1_700_000_000_000L)
          .value("adorned".getBytes())
          .send();
      single.newMessage().keyBytes(new byte[] {1, 2}).value(null).send();
      single.newMessage().deliverAfter(50, TimeUnit.MILLISECONDS).value(new byte[] {9}).send();
    }
    for (CompressionType compression : CompressionType.values()) {
      try (Producer<byte[]> batched =
          client
              .newProducer()
              .topic(topic)
              .producerName("batched-" + compression)
              .compressionType(compression)
              .batchingMaxPublishDelay(1, TimeUnit.SECONDS)
              .create()) {
        for (int index = 0; index < 3; index++)
          batched
              .newMessage()
              .key("k" + index)
              .property("index", String.valueOf(index))
              .value("again and again and again".getBytes())
              .sendAsync();
        batched.flush();
      }
    }
  }

  private static void consume(PulsarClient client, String topic) throws Exception {
    Consumer<byte[]> consumer =
        client
            .newConsumer()
            .topic(topic)
            .subscriptionName("exclusive")
            .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
            .isAckReceiptEnabled(true)
            .subscribe();
    Message<byte[]> first = consumer.receive();
    consumer.acknowledge(first);
    Message<byte[]> last = first;
    for (int index = 0; index < 6; index++) last = consumer.receive();
    consumer.acknowledgeCumulative(last);
    consumer.getLastMessageIds();
    consumer.seek(first.getMessageId());
    consumer.receive();
    consumer.seek(1_700_000_000_000L);
    consumer.receive();
    consumer.redeliverUnacknowledgedMessages();
    consumer.receive();
    consumer.unsubscribe();
  }

  private static void share(PulsarClient client, String topic) throws Exception {
    try (Consumer<byte[]> consumer =
        client
            .newConsumer()
            .topic(topic)
            .subscriptionName("shared")
            .subscriptionType(SubscriptionType.Shared)
            .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
            .negativeAckRedeliveryDelay(10, TimeUnit.MILLISECONDS)
            .enableBatchIndexAcknowledgment(true)
            .acknowledgmentGroupTime(0, TimeUnit.MILLISECONDS)
            .batchReceivePolicy(BatchReceivePolicy.DEFAULT_POLICY)
            .subscribe()) {
      boolean isNacked = false;
      for (int index = 0; index < 8; index++) {
        Message<byte[]> message = consumer.receive();
        if (index % 2 == 0) consumer.acknowledge(message);
        else if (!isNacked) {
          consumer.negativeAcknowledge(message);
          isNacked = true;
        }
      }
      while (consumer.receive(200, TimeUnit.MILLISECONDS) != null) {}
    }
  }

  /** Two exclusive consumers cannot be, so the second causes an error. */
  private static void refuse(PulsarClient client, String topic) throws Exception {
    try (Consumer<byte[]> failover =
            client
                .newConsumer()
                .topic(topic)
                .subscriptionName("failover")
                .subscriptionType(SubscriptionType.Failover)
                .subscribe();
        Consumer<byte[]> holder =
            client.newConsumer().topic(topic).subscriptionName("held").subscribe()) {
      // The broker says who is active a second after it knows.
      failover.receive(1500, TimeUnit.MILLISECONDS);
      client.newConsumer().topic(topic).subscriptionName("held").subscribe().close();
      throw new IllegalStateException("a second exclusive consumer was let in");
    } catch (PulsarClientException.ConsumerBusyException expected) {
      return;
    }
  }

  private static void readAndMatch(PulsarClient client, String topic) throws Exception {
    try (Reader<byte[]> reader =
        client.newReader().topic(topic).startMessageId(MessageId.earliest).create()) {
      if (reader.hasMessageAvailable()) reader.readNext();
    }
    client
        .newConsumer()
        .topicsPattern(Pattern.compile(topic + ".*"))
        .subscriptionName("pattern")
        .subscribe()
        .close();
    client.getPartitionsForTopic(topic).get();
  }

  private static void write(PulsarClient client, String topic) throws Exception {
    try (Producer<String> producer = client.newProducer(Schema.STRING).topic(topic).create();
        Consumer<String> consumer =
            client
                .newConsumer(Schema.STRING)
                .topic(topic)
                .subscriptionName("schema")
                .subscriptionInitialPosition(SubscriptionInitialPosition.Earliest)
                .subscribe()) {
      producer.send("text");
      consumer.acknowledge(consumer.receive());
    }
    try (Producer<byte[]> automatic =
        client.newProducer(Schema.AUTO_PRODUCE_BYTES()).topic(topic).create()) {
      automatic.send("bytes".getBytes());
    }
    try (Producer<byte[]> other =
        client.newProducer().topic(topic).enableBatching(false).create()) {
      other.newMessage(Schema.STRING).value("second schema").send();
    } catch (PulsarClientException.IncompatibleSchemaException expected) {
      return;
    }
  }

  private static void administer(PulsarClient client, String adminUrl, String topic)
      throws Exception {
    String path = adminUrl + "/admin/v2/" + topic.replace("://", "/");
    try (Producer<byte[]> producer = client.newProducer().topic(topic).create();
        Consumer<byte[]> consumer =
            client.newConsumer().topic(topic).subscriptionName("administered").subscribe()) {
      call("PUT", path + "/unload");
      producer.send("after the unload".getBytes());
      consumer.acknowledge(consumer.receive());
      call("POST", path + "/terminate");
      try {
        producer.send("after the end".getBytes());
      } catch (PulsarClientException expected) {
        // The topic has ended; the consumer hears of that too.
      }
      consumer.receive(300, TimeUnit.MILLISECONDS);
    }
  }

  private static void call(String method, String url) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    int status =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    if (!List.of(200, 204).contains(status))
      throw new IllegalStateException(method + " " + url + " said " + status);
  }
}
