"""A receiver of webhooks that believes only what is signed:

    WEBHOOK_SECRET=whsec_… PORT=9000 python3 receiver.py

Prints a line of JSON for each delivery; what came before is answered and not printed as new.
"""

import json
import os
import sys
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from verify_webhook import Refused, verify_service, verify_standard

SECRET = os.environ.get("WEBHOOK_SECRET", "")
HEADER = os.environ.get("SIGNATURE_HEADER", "X-Service-Signature")
LONGEST_BODY = 1024 * 1024
MOST_SEEN = 10_000

# Deliveries come at least once: the id says which are the same.
seen = OrderedDict()
lock = Lock()


def is_repeat(delivery_id):
    with lock:
        if delivery_id in seen:
            return True
        seen[delivery_id] = True
        if len(seen) > MOST_SEEN:
            seen.popitem(last=False)
        return False


def tell(value):
    text = value if isinstance(value, str) else json.dumps(value)
    # several threads print: a line must not end in the middle of another
    with lock:
        print(text, flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        if length > LONGEST_BODY:
            self.close_connection = True
            return self.finish_with(413)
        body = self.rfile.read(length)
        try:
            delivery_id = verify_standard(self.headers, body, SECRET, time.time())
            verify_service(self.headers, body, SECRET, HEADER)
        except Refused as refused:
            tell({"refused": str(refused)})
            return self.finish_with(401)
        payload = json.loads(body)
        tell(
            {
                "id": delivery_id,
                "event": payload["event"],
                "timestamp": payload["timestamp"],
                "sensor": payload["data"]["sensor_id"],
                "repeat": is_repeat(delivery_id),
            }
        )
        return self.finish_with(204)

    def finish_with(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Lines of JSON are all that is printed."""


if __name__ == "__main__":
    if SECRET == "":
        sys.exit("set WEBHOOK_SECRET to the secret that was shown when the webhook was made")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
    tell(f"listening on http://127.0.0.1:{server.server_port}")
    server.serve_forever()
