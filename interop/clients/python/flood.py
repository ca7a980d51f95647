"""Several producers of one client, each as fast as it may or at a steady rate; see interop/drivers/flood.ts."""

import sys
import threading
import time

import pulsar

# How long, in seconds, a thread that computes keeps Python's lock from a thread that wants it. With the usual
# 5 ms, a flow may show what the flow beside it costs in this process instead of what the gateway does.
SWITCH_INTERVAL = 0.0002


class Flow:
    """One producer, and when its receipts came."""

    def __init__(self, client, told, body_of):
        self.told = told
        self.body_of = body_of
        self.sent = 0
        self.failures = []
        self.receipt_at_ms = []
        self.latency_ms = []
        self.receipts = threading.Semaphore(0)
        bound = {"max_pending_messages": told["maxPending"]} if "maxPending" in told else {}
        self.producer = client.create_producer(
            told["topic"], batching_enabled=told["batching"], block_if_queue_full=True, **bound
        )

    def run(self, started, until):
        rate, size_bytes = self.told.get("ratePerSecond"), self.told["sizeBytes"]
        begin = started + self.told.get("fromMs", 0) / 1000
        time.sleep(max(0, begin - time.monotonic()))
        while True:
            now = time.monotonic()
            due = begin + self.sent / rate if rate else now
            if now >= until or due >= until:
                break
            if due > now:
                time.sleep(due - now)
            body = self.body_of(self.sent, 1, size_bytes)
            self.sent += 1
            self.producer.send_async(body, self.on_receipt(started, time.monotonic()))
        self.producer.flush()
        for _ in range(self.sent):
            self.receipts.acquire()

    def on_receipt(self, started, sent_at):
        def receipt(result, _):
            now = time.monotonic()
            if result == pulsar.Result.Ok:
                self.receipt_at_ms.append(round((now - started) * 1000, 2))
                self.latency_ms.append(round((now - sent_at) * 1000, 2))
            else:
                self.failures.append(str(result))
            self.receipts.release()

        return receipt

    def outcome(self):
        return {
            "sent": self.sent,
            "failed": len(self.failures),
            "error": self.failures[0] if self.failures else "",
            "receiptAtMs": self.receipt_at_ms,
            "latencyMs": self.latency_ms,
        }


def flood_flows(client, command, body_of, on_ready):
    sys.setswitchinterval(SWITCH_INTERVAL)
    flows = [Flow(client, told, body_of) for told in command["flows"]]
    on_ready()
    started = time.monotonic()
    until = started + command["durationMs"] / 1000
    threads = [threading.Thread(target=flow.run, args=(started, until)) for flow in flows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [flow.outcome() for flow in flows]
