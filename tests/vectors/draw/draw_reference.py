"""Draws again from transcripts, with nothing but Python's standard library.

Reads transcripts on the standard input, one JSON document after another, and recomputes from what was committed:
the tree's root, the beacon's randomness (not the proof of a curve, which the standard library has none of), the seed,
every pick and the words it took. Says what differs and ends with 1; says `ok` with the seed and the agents otherwise.
"""

import hashlib
import json
import struct
import sys

QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"


def sha256(data):
    return hashlib.sha256(data).digest()


def lp(data):
    return struct.pack(">I", len(data)) + data


def u64(number):
    return struct.pack(">Q", number)


def chacha20_block(key, counter):
    """64 bytes of ChaCha20 with a 64-bit counter and the nonce 0."""
    start = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<QQ", counter, 0)))
    state = start[:]

    def rotate_left(word, by):
        return ((word << by) | (word >> (32 - by))) & 0xFFFFFFFF

    def quarter(a, b, c, d):
        for x, y, z, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            state[z] = rotate_left(state[z] ^ state[x], by)

    for _ in range(10):
        for column in range(4):
            quarter(column, column + 4, column + 8, column + 12)
        quarter(0, 5, 10, 15)
        quarter(1, 6, 11, 12)
        quarter(2, 7, 8, 13)
        quarter(3, 4, 9, 14)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(state, start)))


class Words:
    """The keystream in words of eight bytes, little-endian, counted."""

    def __init__(self, seed):
        self.seed, self.blocks, self.ready, self.consumed = seed, 0, [], 0

    def next(self):
        if not self.ready:
            self.ready = list(struct.unpack("<8Q", chacha20_block(self.seed, self.blocks)))
            self.blocks += 1
        self.consumed += 1
        return self.ready.pop(0)

    def below(self, bound):
        assert 1 <= bound <= 1 << 63
        limit = (1 << 64) - (1 << 64) % bound
        while True:
            word = self.next()
            if word < limit:
                return word % bound


def tree_root(leaves):
    """RFC 6962, level by level: what has no partner rises as it is."""
    level = [sha256(b"\0" + leaf) for leaf in leaves]
    if not level:
        return sha256(b"")
    while len(level) > 1:
        pairs = [sha256(b"\1" + level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def beacon_of(beacon):
    """The chain hash and the randomness, as far as they can be recomputed here."""
    kind, number = beacon["kind"], int(beacon["round"])
    proof = bytes.fromhex(beacon["signature"])

    def named(key):
        return sha256(lp(b"ARENA-BEACON-V1") + lp(kind.encode()) + lp(key))

    if kind == "drand-quicknet":
        return bytes.fromhex(QUICKNET), sha256(proof)
    if kind == "test":
        return named(b""), sha256(u64(number))
    if kind == "ecvrf-operator":
        return named(bytes.fromhex(beacon["public_key"])), bytes.fromhex(beacon["randomness"])
    if kind == "hashchain":
        preimages = [proof[i : i + 32] for i in range(0, len(proof), 32)]
        for preimage, anchor in zip(preimages, beacon["anchors"], strict=True):
            for _ in range(number):
                preimage = sha256(preimage)
            assert preimage.hex() == anchor, f"the preimage does not lead to {anchor}"
        mixed = preimages[0]
        for preimage in preimages[1:]:
            mixed = bytes(a ^ b for a, b in zip(mixed, sha256(preimage)))
        return named(b"".join(map(bytes.fromhex, beacon["anchors"]))), mixed
    raise AssertionError(f"no beacon is {kind!r}")


def draw_again(transcript):
    """Everything a transcript derives, as the transcript writes it."""
    entries = [(agent.encode(), operator.encode(), int(tickets)) for agent, operator, tickets in transcript["entries"]]
    agents = [agent for agent, _, _ in entries]
    assert agents == sorted(set(agents)), "the entries are not in order"
    root = tree_root([lp(agent) + lp(operator) + u64(tickets) for agent, operator, tickets in entries])
    total = sum(tickets for _, _, tickets in entries)
    chain, randomness = beacon_of(transcript["beacon"])
    salt = bytes.fromhex(transcript.get("salt", ""))

    def hashed(name):
        return lp(bytes.fromhex(transcript[name]))

    seed = sha256(
        lp(b"ARENA-DRAW-V1")
        + hashed("instance")
        + lp(transcript["purpose"].encode())
        + hashed("subject")
        + u64(transcript["attempt"])
        + hashed("params_hash")
        + lp(root)
        + u64(len(entries))
        + u64(total)
        + lp(chain)
        + u64(int(transcript["beacon"]["round"]))
        + lp(randomness + salt)
    )
    words, pool, picks = Words(seed), entries, []
    while len(picks) < transcript["seats"] and pool:
        of = sum(tickets for _, _, tickets in pool)
        r = left = words.below(of)
        for agent, operator, tickets in pool:
            if left < tickets:
                break
            left -= tickets
        picks.append({"seat": len(picks), "r": str(r), "of": str(of), "agent": agent.decode()})
        pool = [entry for entry in pool if entry[1] != operator]
    return {
        "root": root.hex(),
        "n": str(len(entries)),
        "total": str(total),
        "chain": chain.hex(),
        "randomness": randomness.hex(),
        "seed": seed.hex(),
        "picks": picks,
        "words_consumed": str(words.consumed),
    }


def documents(text):
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        document, at = decoder.raw_decode(text, at)
        yield document


def main():
    count = 0
    for count, transcript in enumerate(documents(sys.stdin.buffer.read().decode()), start=1):
        stated = {**transcript, **transcript["beacon"]}
        for name, derived in draw_again(transcript).items():
            if stated[name] != derived:
                sys.exit(f"document {count}: {name} is {derived}, the transcript says {stated[name]}")
        print("ok", transcript["seed"], *(pick["agent"] for pick in transcript["picks"]))
    if count == 0:
        sys.exit("no transcript on the standard input")


main()
