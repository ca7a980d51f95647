"""A map whose messages say what it does, to make it fail in every way."""
import base64
import json
import os
import sys
import time

if os.environ.get("AT_START") == "exit":
    sys.exit(9)

waiting = []


def answer(message, **result):
    print(json.dumps({"id": message["id"], **result}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    value = message.get("value")
    what = value.get("do") if isinstance(value, dict) else value
    if what == "double":
        answer(message, outputs=[{"value": value["n"] * 2}])
    elif what == "two":
        answer(message, outputs=[{"value": 1}, {"value": 2, "key": "second", "headers": {"a": "b"}}])
    elif what == "drop":
        answer(message, outputs=[])
    elif what == "fail":
        answer(message, error="cannot", retriable=False)
    elif what == "fail-now":
        answer(message, error="not now")
    elif what == "exit":
        sys.exit(3)
    elif what == "hang":
        time.sleep(3600)
    elif what == "lose":
        pass
    elif what == "later":
        waiting.append(message)
    elif what == "now":
        answer(message, outputs=[{"value": "now"}])
        for each in reversed(waiting):
            answer(each, outputs=[{"value": "later"}])
        waiting = []
    elif what == "print":
        print("debugging", flush=True)
        print(json.dumps({"id": "999999", "outputs": []}), flush=True)
        answer(message, outputs=[{"value": "printed"}])
    elif what == "no-outputs":
        answer(message)
    elif what == "bad-output":
        answer(message, outputs=[{"valu": 1}])
    elif what == "long":
        print("x" * 100_000, flush=True)
    elif what == "warn":
        for n in range(value["n"]):
            print(f"warning {n}", file=sys.stderr, flush=True)
        answer(message, outputs=[])
    elif "valueBase64" in message:
        data = base64.b64decode(message["valueBase64"])
        answer(message, outputs=[{"valueBase64": base64.b64encode(data[::-1]).decode()}])
    else:
        answer(message, outputs=[{"value": [value, message.get("key"), message["headers"], message["messageId"]]}])
