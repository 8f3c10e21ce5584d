"""Check webhooks: SECRETS has the secrets of the target, with blanks between."""

import base64
import hmac
import os
import time

KEYS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["SECRETS"].split()]
known = set()


def receive(headers, body):
    """Return whether a message is new. Raise ValueError for one that is not ours."""
    id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    content = f"{id}.{timestamp}.".encode() + body
    ours = [b"v1," + base64.b64encode(hmac.digest(key, content, "sha256")) for key in KEYS]
    given = headers["webhook-signature"].encode().split()
    if abs(time.time() - int(timestamp)) > 300 or not any(
        hmac.compare_digest(a, b) for a in ours for b in given
    ):
        raise ValueError("not ours")
    is_new = id not in known
    known.add(id)
    return is_new
