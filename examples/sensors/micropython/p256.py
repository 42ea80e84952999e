# ECDSA over P-256 with SHA-256 for MicroPython, which has neither curves nor SHA-512. Only what a
# sensor needs: its public key and its signatures. `mpremote mip install hmac`.
#
# It is not constant time: who can measure how long a signature takes, or the power that it takes,
# may learn the private key. Where others can get at the board, use a secure element.
import hashlib
import hmac

# SP 800-186: the points of y² = x³ − 3x + b modulo P that are multiples of G, of which there are N
P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    1,
)


# A point is (x, y, z) in Jacobian coordinates, which stand for x / z² and y / z³: so nothing is
# divided before the end. z is 0 in the point at infinity.
def twice(point):
    x, y, z = point
    yy = y * y % P
    s = 4 * x * yy % P
    zz = z * z % P
    m = 3 * (x - zz) * (x + zz) % P
    x = (m * m - 2 * s) % P
    return x, (m * (s - x) - 8 * yy * yy) % P, 2 * y * z % P


def plus_g(point):
    x, y, z = point
    if z == 0:
        return G
    zz = z * z % P
    h = (G[0] * zz - x) % P
    r = (G[1] * zz * z - y) % P
    if h == 0:
        return (1, 1, 0) if r else twice(G)
    hh = h * h % P
    hhh = h * hh % P
    v = x * hh % P
    x = (r * r - hhh - 2 * v) % P
    return x, (r * (v - x) - y * hhh) % P, z * h % P


def times_g(factor):
    # N times G is nothing, so adding it changes only the length: the loop then has as many rounds
    # for a small factor as for a large one
    factor += N
    if factor >> 256 == 0:
        factor += N
    point = G
    for bit in range(255, -1, -1):
        point = twice(point)
        if factor >> bit & 1:
            point = plus_g(point)
    # MicroPython's pow() has no negative exponents: it returns 0. By Fermat this is 1 / z.
    inverse = pow(point[2], P - 2, P)
    square = inverse * inverse % P
    return point[0] * square % P, point[1] * square * inverse % P


def to_bytes(number):
    return number.to_bytes(32, "big")


def to_number(octets):
    return int.from_bytes(octets, "big")


def is_private_key(octets):
    return len(octets) == 32 and 0 < to_number(octets) < N


def public_key(private):
    """The compressed point, 33 bytes."""
    x, y = times_g(to_number(private))
    return bytes([2 + (y & 1)]) + to_bytes(x)


def nonces(private, digest):
    """RFC 6979, 3.2: without random numbers, of which one that repeats would give the key away."""

    def mac(key, message):
        return hmac.new(key, message, hashlib.sha256).digest()

    seed = private + to_bytes(to_number(digest) % N)
    key, value = bytes(32), b"\x01" * 32
    for separator in (b"\x00", b"\x01"):
        key = mac(key, value + separator + seed)
        value = mac(key, value)
    while True:
        value = mac(key, value)
        if is_private_key(value):
            yield to_number(value)
        key = mac(key, value + b"\x00")
        value = mac(key, value)


def sign(private, message):
    """r and s, 32 bytes each; s is at most half of the order."""
    digest = hashlib.sha256(message).digest()
    for nonce in nonces(private, digest):
        r = times_g(nonce)[0] % N
        s = pow(nonce, N - 2, N) * (to_number(digest) + r * to_number(private)) % N
        if r and s:
            return to_bytes(r) + to_bytes(min(s, N - s))
