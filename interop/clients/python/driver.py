"""Drives the Python client (the C++ client underneath) by one command.

driver.py <serviceUrl>, with the command as JSON on standard input; answers in JSON lines.
What the commands and answers are is written in interop/drivers/driver.ts.
"""

import base64
import hashlib
import json
import os
import re
import sys
import threading
import time

import pulsar

from flood import flood_flows

COMPRESSION = {
    "none": pulsar.CompressionType.NONE,
    "lz4": pulsar.CompressionType.LZ4,
    "zlib": pulsar.CompressionType.ZLib,
    "zstd": pulsar.CompressionType.ZSTD,
    "snappy": pulsar.CompressionType.SNAPPY,
}
TYPES = {
    "exclusive": pulsar.ConsumerType.Exclusive,
    "shared": pulsar.ConsumerType.Shared,
    "failover": pulsar.ConsumerType.Failover,
}
POSITIONS = {
    "earliest": pulsar.InitialPosition.Earliest,
    "latest": pulsar.InitialPosition.Latest,
}
PENDING_MAX = 1000


def say(event, **fields):
    print(json.dumps({"event": event, **fields}, separators=(",", ":")), flush=True)


def body_of(index, keys, size_bytes):
    header = {"key": "k%d" % (index % keys), "sequence": index // keys, "index": index}
    return json.dumps(header, separators=(",", ":")).encode().ljust(size_bytes)


def id_of(message_id):
    return "%d:%d:%d:%d" % (
        message_id.ledger_id(),
        message_id.entry_id(),
        message_id.partition(),
        message_id.batch_index(),
    )


class Tally:
    """Counts what arrives. The digest is over the bodies in the order of their index, each once."""

    def __init__(self):
        self.received = 0
        self.duplicates = 0
        self.order_broken = 0
        self.redelivered = 0
        self.bodies = {}
        self.last = {}

    def add(self, message):
        body = message.data()
        header = json.loads(body)
        self.received += 1
        if message.redelivery_count() > 0:
            self.redelivered += 1
        if header["index"] in self.bodies:
            self.duplicates += 1
            return False
        self.bodies[header["index"]] = body
        if header["sequence"] <= self.last.get(header["key"], -1):
            self.order_broken += 1
        self.last[header["key"]] = header["sequence"]
        return True

    def outcome(self):
        digest = hashlib.sha256()
        for index in sorted(self.bodies):
            digest.update(self.bodies[index])
        return {
            "received": self.received,
            "distinct": len(self.bodies),
            "digest": digest.hexdigest(),
            "perKeyOrderBroken": self.order_broken,
            "duplicates": self.duplicates,
            "redelivered": self.redelivered,
        }


def connect(url, command):
    options = {"logger": pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull)}
    if "token" in command:
        options["authentication"] = pulsar.AuthenticationToken(command["token"])
    if "caFile" in command:
        options["tls_trust_certs_file_path"] = command["caFile"]
        options["tls_validate_hostname"] = True
    return pulsar.Client(url, **options)


def create_producer(client, command):
    return client.create_producer(
        command["topic"],
        batching_enabled=command["batching"],
        batching_max_messages=500,
        batching_max_publish_delay_ms=5,
        # Batches by key keep the order of a key, and so does one queue that waits when it is full.
        block_if_queue_full=True,
        max_pending_messages=PENDING_MAX,
        compression_type=COMPRESSION[command.get("compression", "none")],
        message_routing_mode=pulsar.PartitionsRoutingMode.UseSinglePartition,
    )


def produce(url, command):
    client = connect(url, command)
    producer = create_producer(client, command)
    count, start = command["count"], command.get("start", 0)
    keys, size_bytes = command.get("keys", 1), command["sizeBytes"]
    bodies = [(index, body_of(index, keys, size_bytes)) for index in range(start, start + count)]
    say("ready")
    ids, failures, receipts = {}, [], threading.Semaphore(0)

    def receipt(index):
        def on_receipt(result, message_id):
            if result == pulsar.Result.Ok:
                ids[index] = message_id
            else:
                failures.append(str(result))
            receipts.release()

        return on_receipt

    started = time.monotonic()
    for index, body in bodies:
        producer.send_async(
            body,
            receipt(index),
            partition_key="k%d" % (index % keys) if "keys" in command else None,
            properties=command.get("properties"),
        )
    producer.flush()
    for _ in range(count):
        receipts.acquire()
    ms = (time.monotonic() - started) * 1000
    if failures:
        raise RuntimeError("%d of %d failed: %s" % (len(failures), count, failures[0]))
    client.close()
    listed = [id_of(ids[index]) for index in sorted(ids)] if command.get("list") else []
    say("done", sent=len(ids), messageIds=listed, ms=ms)


def flood(url, command):
    client = connect(url, command)
    flows = flood_flows(client, command, body_of, lambda: say("ready"))
    client.close()
    say("done", flows=flows)


def consume(url, command):
    client = connect(url, command)
    topic = command.get("topic") or command.get("topics") or re.compile(command["pattern"])
    consumer = client.subscribe(
        topic,
        command["subscription"],
        consumer_type=TYPES[command["type"]],
        initial_position=POSITIONS[command.get("initialPosition", "earliest")],
        receiver_queue_size=command.get("queue", 1000),
        negative_ack_redelivery_delay_ms=100,
    )
    say("ready")
    tally, last, accepted = Tally(), None, 0
    started = time.monotonic()
    until = started + command["timeoutMs"] / 1000
    while accepted < command["count"]:
        try:
            message = consumer.receive(timeout_millis=max(1, int((until - time.monotonic()) * 1000)))
        except pulsar.Timeout:
            break
        is_new = tally.add(message)
        if command.get("list"):
            say("message", **seen(message))
        if is_new and command.get("nackEvery") and tally.received % command["nackEvery"] == 0:
            consumer.negative_acknowledge(message)
            continue
        accepted += 1
        last = message
        if command["ack"] == "individual":
            consumer.acknowledge(message)
    ms = (time.monotonic() - started) * 1000
    if command["ack"] == "cumulative" and last is not None:
        consumer.acknowledge_cumulative(last)
    if not command.get("abort"):
        client.close()
    say("done", ms=ms, **tally.outcome())
    if command.get("abort"):
        os._exit(0)


def seen(message):
    return {
        "body": base64.b64encode(message.data()).decode(),
        "key": message.partition_key() or None,
        "properties": message.properties(),
        "messageId": id_of(message.message_id()),
        "redeliveryCount": message.redelivery_count(),
    }


def tour(url, command):
    """Uses as many commands of the protocol as a client can cause, a few messages each."""
    client = connect(url, command)
    topic = command["topic"]
    single = client.create_producer(topic, producer_name="single", batching_enabled=False)
    single.send(b"plain")
    single.send(
        b"adorned",
        partition_key="key",
        ordering_key="order",
        properties={"name": "value"},
        event_timestamp=1_700_000_000_000,
    )
    single.close()
    for name, compression in COMPRESSION.items():
        batched = client.create_producer(
            topic,
            producer_name="batched-" + name,
            compression_type=compression,
            batching_enabled=True,
            batching_max_publish_delay_ms=1000,
        )
        for index in range(3):
            properties = {"index": str(index)}
            body = b"again and again and again"
            batched.send_async(body, None, properties=properties, partition_key="k%d" % index)
        batched.flush()
        batched.close()
    tour_exclusive(client, topic)
    tour_shared(client, topic)
    reader = client.create_reader(topic, pulsar.MessageId.earliest)
    if reader.has_message_available():
        reader.read_next()
    reader.close()
    pattern = re.compile(re.escape(topic) + ".*")
    client.subscribe(pattern, "pattern").close()
    client.get_topic_partitions(topic)
    schema = pulsar.schema.StringSchema()
    client.create_producer(topic + "-schema", schema=schema).send("text")
    client.close()
    say("done")


def tour_exclusive(client, topic):
    consumer = client.subscribe(
        topic, "exclusive", initial_position=pulsar.InitialPosition.Earliest
    )
    first = consumer.receive()
    consumer.acknowledge(first)
    for _ in range(3):
        last = consumer.receive()
    consumer.acknowledge_cumulative(last)
    consumer.get_last_message_id()
    consumer.seek(first.message_id())
    consumer.receive()
    consumer.seek(1_700_000_000_000)
    consumer.receive()
    consumer.redeliver_unacknowledged_messages()
    consumer.receive()
    try:
        client.subscribe(topic, "exclusive")
    except pulsar.ConsumerBusy:
        pass
    consumer.unsubscribe()


def tour_shared(client, topic):
    consumer = client.subscribe(
        topic,
        "shared",
        consumer_type=pulsar.ConsumerType.Shared,
        initial_position=pulsar.InitialPosition.Earliest,
        negative_ack_redelivery_delay_ms=10,
    )
    message = consumer.receive()
    consumer.negative_acknowledge(message)
    for _ in range(17):
        consumer.acknowledge(consumer.receive(timeout_millis=5000))
    consumer.close()
    failover = client.subscribe(topic, "failover", consumer_type=pulsar.ConsumerType.Failover)
    try:
        # The broker says who is active a second after it knows.
        failover.receive(timeout_millis=1500)
    except pulsar.Timeout:
        failover.close()


COMMANDS = {"produce": produce, "consume": consume, "flood": flood, "tour": tour}

if __name__ == "__main__":
    request = json.loads(sys.stdin.read())
    try:
        COMMANDS[request["command"]](sys.argv[1], request)
    except Exception as error:  # the caller reads the reason from the last line
        say("error", message="%s: %s" % (type(error).__name__, error))
        sys.exit(1)
