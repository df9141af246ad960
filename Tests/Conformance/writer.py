"""A generator of LogStore pages, written from SPEC.md alone; section numbers below are those of SPEC.md.

It makes test pages, byte for byte the same every time: nothing in it is random, and its deflate is its own. It shares
no code with the reader, so that the two can disagree.
"""

import struct
import zlib
from dataclasses import dataclass

PAGE_ID = bytes.fromhex("3f2504e04f8941d39a0c0305e82c3301")
TIME = 1_700_000_000_000_000_000
SECOND = 1_000_000_000
NONE = 2**64 - 1

FIRST, LAST = 0x40, 0x80


# --- Operations (section 2): each is the list of its frames, (kind, payload) ---------------------------------------


def put(key, value=b"", *, parts=()):
    return [*parts_of(parts), (1, struct.pack("<H", len(key)) + key + value)]


def put_before(key, before, value=b"", *, parts=()):
    return [*parts_of(parts), (2, struct.pack("<HH", len(key), len(before)) + key + before + value)]


def remove(key):
    return [(3, key)]


def move(key, before=b""):
    return [(4, struct.pack("<HH", len(key), len(before)) + key + before)]


def clear():
    return [(5, b"")]


def application(kind, payload, *, parts=()):
    return [*parts_of(parts), (kind, payload)]


def parts_of(parts):
    return [(6, part) for part in parts]


def frame(salt, offset, frame_type, payload, *, length=None):
    """A frame's bytes; with `length`, one whose length field lies, under a CRC that covers the lie."""
    length = len(payload) if length is None else length
    head = struct.pack("<QQIB", salt, offset, length, frame_type)
    return struct.pack("<IIB", length, zlib.crc32(head + payload), frame_type) + payload


def sealed_header(fields):
    return fields + struct.pack("<I", zlib.crc32(fields))


@dataclass(frozen=True)
class Loss:
    generation: int
    salt: int
    start: int
    end: int
    lsn: int
    count: int

    def frames(self):
        fields = (self.generation, self.salt, self.start, self.end, self.lsn, self.count)
        return [(9, struct.pack("<6Q", *fields))]


@dataclass(frozen=True)
class Span:
    """Where a frame stands."""

    start: int
    end: int


class File:
    """A header's place, then frames."""

    def __init__(self, salt):
        self.salt = salt
        self.data = bytearray(128)
        self.frames = []

    def batch(self, *operations):
        """Appends operations as one batch."""
        frames = [frame for operation in operations for frame in operation]
        for index, (kind, payload) in enumerate(frames):
            self.one(kind | (FIRST if index == 0 else 0) | (LAST if index == len(frames) - 1 else 0), payload)

    def one(self, frame_type, payload, **lies):
        """Appends a frame as it is, whether or not a writer would."""
        start = len(self.data)
        self.data += frame(self.salt, start, frame_type, payload, **lies)
        self.frames.append(Span(start, len(self.data)))

    @property
    def end(self):
        return len(self.data)

    def bytes(self):
        return bytes(self.data)


# --- Journals (section 3) ------------------------------------------------------------------------------------------


class Journal(File):
    """A journal, with the LSN that its operations lead to."""

    def __init__(
        self, generation, salt, *, follows=None, base_lsn=0, losses=(), carried=(), page_id=PAGE_ID,
        version=1, compatible=0, incompatible=0,
    ):  # fmt: skip
        super().__init__(salt)
        self.generation, self.base_lsn, self.lsn = generation, base_lsn, base_lsn
        for loss in losses:
            self.batch(loss.frames())
        for batch in carried:
            self.batch(*batch)
        predecessor, predecessor_salt, end = follows or (NONE, 0, 0)
        fields = b"\x89LSJ\r\n\x1a\n" + struct.pack("<HHIII", version, 128, compatible, incompatible, 0) + page_id
        fields += struct.pack("<6Q", generation, salt, base_lsn, predecessor, predecessor_salt, end)
        fields += struct.pack("<QQq12x", self.end, 0, TIME)
        self.data[:128] = sealed_header(fields)

    def batch(self, *operations):
        super().batch(*operations)
        self.lsn += sum(kind < 6 or kind > 31 for operation in operations for kind, _ in operation)

    def mark(self, *, durable=None, closed=False, lsn=None):
        """A mark; unless told otherwise, all in front of it was durable."""
        durable = self.end if durable is None else durable
        lsn = self.lsn if lsn is None else lsn
        self.one(0xC8, struct.pack("<QQqQB", lsn, durable, TIME + self.end * SECOND, self.salt, closed))

    def successor(self, salt, *, generation=None, end=None, base_lsn=None, **options):
        """A journal that follows this one."""
        generation = self.generation + 1 if generation is None else generation
        end = self.end if end is None else end
        base_lsn = self.lsn if base_lsn is None else base_lsn
        return Journal(generation, salt, follows=(self.generation, self.salt, end), base_lsn=base_lsn, **options)


# --- Snapshots (section 5) -----------------------------------------------------------------------------------------


class Snapshot(File):
    """The state at the moment a journal was started."""

    def __init__(self, journal, salt, records, *, losses=(), block_size=0, part_size=1 << 26, page_id=PAGE_ID, state=0):
        """Records as frames of their own, or with a `block_size` in blocks of so many records."""
        super().__init__(salt)
        generation = journal.generation
        fields = b"\x89LSS\r\n\x1a\n" + struct.pack("<HHIII", 1, 128, 0, 0, state) + page_id
        fields += struct.pack("<QQQQq44x", generation, salt, journal.base_lsn, journal.salt, TIME)
        self.data[:128] = sealed_header(fields)
        for loss in losses:
            self.batch(loss.frames())
        records_offset = self.end
        if state:
            for operation in records:
                self.batch(operation)
            places, keys = [], []
        else:
            places = self.add_blocks(records, block_size) if block_size else self.add_records(records, part_size)
            keys = [key for key, _ in records]
        order_offset = self.end
        for index in range(0, len(places), 128):
            self.one(0xC0 | 18, b"".join(struct.pack("<QI", *place) for place in places[index : index + 128]))
        keys_offset = self.end
        buckets = key_table(keys, salt, generation)
        for bucket in buckets:
            self.one(0xC0 | 19, bucket)
        offsets = (records_offset, order_offset, keys_offset, len(buckets), zlib.crc32(self.data), 0)
        self.one(0xC0 | 20, struct.pack("<6QII", journal.base_lsn, len(records), *offsets))

    def add_records(self, records, part_size):
        places = []
        for key, value in records:
            start = self.end
            parts = [value[at : at + part_size] for at in range(0, len(value), part_size)] or [b""]
            *parts, last = parts
            self.batch([*parts_of(parts), (16, struct.pack("<H", len(key)) + key + last)])
            places.append((start, self.end - start))
        return places

    def add_blocks(self, records, block_size):
        places = []
        for first in range(0, len(records), block_size):
            block = records[first : first + block_size]
            raw = b"".join(struct.pack("<HI", len(key), len(value)) + key + value for key, value in block)
            start = self.end
            self.one(0xC0 | 17, struct.pack("<QII", first, len(block), len(raw)) + deflate(raw))
            places += [(start, self.end - start)] * len(block)
        return places


def key_table(keys, salt, generation):
    """The payloads of the buckets."""
    buckets = [[] for _ in range((len(keys) + 95) // 96)]
    for index, key in enumerate(keys):
        hashed = siphash13(key, salt, generation)
        bucket = (hashed * len(buckets)) >> 64
        while len(buckets[bucket]) == 128:
            bucket = (bucket + 1) % len(buckets)
        buckets[bucket].append((hashed & 0xFFFFFFFF, index))
    payloads = []
    for entries in buckets:
        unused = 128 - len(entries)
        tags = [tag for tag, _ in entries] + [0] * unused
        indexes = [index for _, index in entries] + [0xFFFFFFFF] * unused
        payloads.append(struct.pack("<256I", *tags, *indexes))
    return payloads


def siphash13(data, k0, k1):
    mask = (1 << 64) - 1
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def add_rotate(a, b, bits):
        v[a] = (v[a] + v[b]) & mask
        v[b] = ((v[b] << bits) | (v[b] >> (64 - bits))) & mask
        v[b] ^= v[a]

    def half_turn(a):
        v[a] = ((v[a] << 32) | (v[a] >> 32)) & mask

    def rounds(count):
        for _ in range(count):
            add_rotate(0, 1, 13)
            half_turn(0)
            add_rotate(2, 3, 16)
            add_rotate(0, 3, 21)
            add_rotate(2, 1, 17)
            half_turn(2)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def deflate(raw):
    """One block of RFC 1951 with fixed codes: literals, and matches of 3 to 10 bytes at most 4 bytes back."""
    bits = []

    def add(value, count):  # Huffman codes go from their highest bit
        bits.extend(value >> shift & 1 for shift in range(count - 1, -1, -1))

    bits += [1, 1, 0]  # the last block; its kind, 1, from the lowest bit
    at = 0
    while at < len(raw):
        length, distance = max((match_length(raw, at, distance), distance) for distance in (1, 2, 3, 4))
        if length >= 3:
            add(length - 2, 7)  # codes 257 to 264
            add(distance - 1, 5)
            at += length
        else:
            byte = raw[at]
            if byte < 144:
                add(0x30 + byte, 8)
            else:
                add(0x190 + byte - 144, 9)
            at += 1
    add(0, 7)  # end of block
    bits += [0] * (-len(bits) % 8)
    return bytes(sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))


def match_length(raw, at, distance):
    length = 0
    if distance <= at:
        while length < 10 and at + length < len(raw) and raw[at + length] == raw[at + length - distance]:
            length += 1
    return length
