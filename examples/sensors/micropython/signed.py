# A sensor on MicroPython that signs its readings with P-256, over HTTP. `mpremote mip install hmac
# requests`, then copy p256.py to the board, and this as main.py, beside a boot.py that joins the
# network. It makes its key at the first start; what it prints goes to the registry:
# npx airproof sensors set ID --public-key … --signature required
import binascii
import os
import time

import p256

SENSOR = "NGR-LOS-IKJ-017"
KEY = "aqs_..."
PUSH_URL = "http://air.example.org:8082/push/readings"
KEY_FILE = "sensor.key"
INTERVAL_S = 300

# most boards count the seconds from 2000
EPOCH = 0 if time.gmtime(0)[0] == 1970 else 946684800


def private_key(urandom):
    """It never leaves the board: 32 bytes in a file, so it is as safe as the board is."""
    try:
        with open(KEY_FILE, "rb") as file:
            return file.read()
    except OSError:
        key = urandom(32)
    while not p256.is_private_key(key):
        key = urandom(32)
    # a board that loses its power in here makes another key: it never has half of one
    with open(KEY_FILE + ".new", "wb") as file:
        file.write(key)
    os.rename(KEY_FILE + ".new", KEY_FILE)
    return key


def base64(octets):
    return binascii.b2a_base64(octets).decode().strip()


def signed_body(key, at, values):
    """The texts of the numbers are made once: the JSON and what is signed have the same."""
    texts = {name: "%.1f" % value for name, value in values.items()}
    lines = ["%s=%s" % (name, texts[name]) for name in sorted(texts)]
    # "000": the time is in ms
    text = "\n".join(["airproof.device.v1", SENSOR, "%d000" % (EPOCH + at)] + lines)
    sig = base64(p256.sign(key, text.encode()))
    timestamp = "%04d-%02d-%02dT%02d:%02d:%02dZ" % tuple(time.gmtime(at))[:6]
    fields = ", ".join(['"%s": %s' % field for field in texts.items()])
    return '{"timestamp": "%s", %s, "sig": "%s"}' % (timestamp, fields, sig)


def set_clock():
    """What is signed is signed with its time: without the right one every reading is refused."""
    try:
        import ntptime
    except ImportError:
        return  # not on a board: the computer's clock is set
    ntptime.settime()


def post(body):
    import requests

    headers = {"Content-Type": "application/json"}
    answer = requests.post(PUSH_URL, data=body, headers=headers, auth=(SENSOR, KEY), timeout=30)
    answer.close()
    # keep it and send it again where it was not stored: main.py, beside this example, shows how
    status = answer.status_code
    print("stored" if status == 202 else "not stored: %d" % status)


def main():
    key = private_key(os.urandom)
    print("public key:", base64(p256.public_key(key)))
    while True:
        try:
            set_clock()
            # your sensor's values here; what it does not measure is left out
            values = {"pm25": 45.3, "pm10": 78.2, "temperature": 28.4}
            post(signed_body(key, int(time.time()), values))
        except Exception as error:
            print("again later:", error)
        time.sleep(INTERVAL_S)


if __name__ == "__main__":
    main()
