"""Checks that a delivery came from the service. Standard library only; copy this file."""

import base64
import binascii
import hashlib
import hmac
import re

# How far our clock and the sender's may be apart, and how old a delivery may be.
TOLERANCE_SECONDS = 300
PREFIX = "whsec_"


class Refused(Exception):
    """The delivery must not be believed; the message names the reason."""


def verify_standard(headers, body, secret, now):
    """Standard Webhooks: `webhook-signature` holds one or more `v1,<base64>`, HMAC-SHA256 of
    `<id>.<timestamp>.<body>`. Guards against replays too.

    headers: a mapping that ignores case; body: the bytes as they came; secret: as it was shown,
    `whsec_…`; now: seconds since the epoch. Returns the delivery's id, or raises Refused.
    """
    delivery_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (delivery_id and timestamp and signatures):
        raise Refused("missing_header")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise Refused("bad_timestamp")
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise Refused("stale")
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{delivery_id}.{timestamp}.".encode() + body
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    for signature in signatures.split(" "):
        version, _, text = signature.partition(",")
        if version == "v1" and hmac.compare_digest(_decode(text), expected):
            return delivery_id
    raise Refused("wrong_signature")


def verify_service(headers, body, secret, header="X-Service-Signature"):
    """The service's own header: lower-case hex HMAC-SHA256 of the body. While a secret is rotated
    the old one stays there, and the new one signs beside it, in `…-Next`. Says nothing about
    replays. Raises Refused.
    """
    given = [headers.get(name, "") for name in (header, f"{header}-Next")]
    if not any(given):
        raise Refused("missing_header")
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode()
    if not any(hmac.compare_digest(text.encode(), expected) for text in given):
        raise Refused("wrong_signature")


def _decode(text):
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
