"""Snapshots: SPEC.md section 5."""

import struct
import zlib
from dataclasses import dataclass

from frames import (
    APPLICATION, BLOCK, FOOTER, FRAME_OVERHEAD, HEADER_SIZE, IN_SNAPSHOT, KEYS, LOSS, ORDER, PART, RECORD,
    SnapshotHeader, frame_at, is_in_place, is_key_length, parsed_loss, refuse_reserved, snapshot_header, u16,
    with_parts,
)  # fmt: skip

MAX_BLOCK = 1 << 20
EMPTY_SLOT = 2**32 - 1
BUCKET_SLOTS = 128
BUCKET_SIZE = FRAME_OVERHEAD + BUCKET_SLOTS * 8
ORDER_ENTRIES = 128
ORDER_ENTRY = struct.Struct("<QI")
FOOTER_SIZE = 65


@dataclass(frozen=True)
class Footer:
    lsn: int
    count: int
    records_offset: int
    order_offset: int
    keys_offset: int
    buckets: int
    file_crc: int
    reserved: int

    FORM = struct.Struct("<6QII")


class SnapshotDamage(Exception):
    """`records` are given where only the key table is damaged: they verify by themselves, and can be searched."""

    def __init__(self, start, end, records=None):
        super().__init__(f"bytes {start} to {end}")
        self.start, self.end, self.records = start, end, records


@dataclass
class Snapshot:
    """A snapshot that verifies for opening."""

    data: bytes
    header: SnapshotHeader
    footer: Footer

    @classmethod
    def open(cls, data, generation):
        header = snapshot_header(data, generation)
        if not header:
            raise SnapshotDamage(0, HEADER_SIZE)
        footer_start = len(data) - FOOTER_SIZE
        footer = cls.footer_at(data, header, footer_start) if footer_start >= HEADER_SIZE else None
        if not footer:
            raise SnapshotDamage(max(HEADER_SIZE, footer_start), len(data))
        return cls(data, header, footer)

    @staticmethod
    def footer_at(data, header, start):
        frame = frame_at(data, header.salt, start, len(data), IN_SNAPSHOT)
        if not frame or frame.kind != FOOTER or not (frame.first and frame.last) or frame.end != len(data):
            return None
        footer = Footer(*Footer.FORM.unpack(frame.payload))
        has_tables = int.from_bytes(data[20:24], "little") == 0
        tabled = footer.count if has_tables else 0
        fits = (
            footer.lsn == header.lsn
            and HEADER_SIZE <= footer.records_offset <= footer.order_offset
            and footer.order_offset + order_table_size(tabled) == footer.keys_offset
            and footer.keys_offset + footer.buckets * BUCKET_SIZE == start
            and footer.buckets == bucket_count(tabled)
        )
        return footer if fits else None

    def losses(self):
        return [parsed_loss(frame) for frame in self.section(HEADER_SIZE, self.footer.records_offset, {LOSS})]

    def records(self):
        """All records in order, after everything in the file has been verified."""
        footer = self.footer
        self.losses()
        records, places, applications = [], [], 0
        batch = []
        for frame in self.section(footer.records_offset, footer.order_offset, {PART, RECORD, BLOCK, *APPLICATION}):
            batch.append(frame)
            if not frame.last:
                continue
            place = (batch[0].start, frame.end - batch[0].start)
            before = len(records)
            for member, parts in with_parts(batch):
                applications += member.kind in APPLICATION
                if member.kind == RECORD:
                    key_end = 2 + u16(member.payload, 0)
                    records.append((member.payload[2:key_end], parts + member.payload[key_end:]))
                elif member.kind == BLOCK:
                    records += block_records(member, before)
            places += [place] * (len(records) - before)
            batch = []
        if footer.count != (len(records) or applications) or len(dict(records)) != len(records):
            raise SnapshotDamage(footer.records_offset, footer.order_offset)
        self.check_order(places)
        try:
            self.check_keys([key for key, _ in records])
        except SnapshotDamage as damage:
            raise SnapshotDamage(damage.start, damage.end, records) from None
        if zlib.crc32(self.data[: -FOOTER_SIZE]) != footer.file_crc:
            raise SnapshotDamage(len(self.data) - FOOTER_SIZE, len(self.data))
        return records

    def section(self, start, end, kinds):
        """The frames that fill a section, each verified and in place."""
        batch = []
        while start < end:
            frame = frame_at(self.data, self.header.salt, start, end, IN_SNAPSHOT)
            refuse_reserved(frame)
            if not frame or frame.kind not in kinds or not is_in_place(frame, batch):
                raise SnapshotDamage(start, self.stated_end(start, end))
            yield frame
            batch = [] if frame.last else batch + [frame]
            start = frame.end
        if batch:
            raise SnapshotDamage(batch[0].start, end)

    def stated_end(self, start, section_end):
        end = start + FRAME_OVERHEAD + int.from_bytes(self.data[start : start + 4], "little")
        return end if end <= section_end else section_end

    def table_frames(self, start, sizes, kind):
        """Frames of known sizes, all of one kind, each a batch of its own."""
        for size in sizes:
            frame = frame_at(self.data, self.header.salt, start, start + size, IN_SNAPSHOT)
            refuse_reserved(frame)
            if not frame or frame.kind != kind or frame.end != start + size or not (frame.first and frame.last):
                raise SnapshotDamage(start, start + size)
            yield frame
            start += size

    def check_order(self, places):
        chunks = [places[i : i + ORDER_ENTRIES] for i in range(0, len(places), ORDER_ENTRIES)]
        sizes = [FRAME_OVERHEAD + ORDER_ENTRY.size * len(chunk) for chunk in chunks]
        for frame, chunk in zip(self.table_frames(self.footer.order_offset, sizes, ORDER), chunks):
            if list(ORDER_ENTRY.iter_unpack(frame.payload)) != chunk:
                raise SnapshotDamage(frame.start, frame.end)

    def check_keys(self, keys):
        sizes = [BUCKET_SIZE] * self.footer.buckets
        frames = list(self.table_frames(self.footer.keys_offset, sizes, KEYS))
        buckets = [bucket_entries(frame.payload) for frame in frames]
        if any(bucket is None for bucket in buckets) or sum(map(len, buckets)) != len(keys):
            raise SnapshotDamage(self.footer.keys_offset, len(self.data) - FOOTER_SIZE)
        for index, key in enumerate(keys):
            home, tag = bucket_and_tag(key, self.header.salt, self.header.generation, len(buckets))
            if not any((tag, index) in bucket for bucket in probed(buckets, home)):
                raise SnapshotDamage(frames[home].start, frames[home].end)


def order_table_size(count):
    full, rest = divmod(count, ORDER_ENTRIES)
    size = full * (FRAME_OVERHEAD + ORDER_ENTRIES * ORDER_ENTRY.size)
    return size + (FRAME_OVERHEAD + rest * ORDER_ENTRY.size if rest else 0)


def bucket_count(count):
    return -(-count // 96)


def bucket_entries(payload):
    """The (tag, index) pairs of a bucket, or None if they do not fill it from its start."""
    slots = struct.unpack("<256I", payload)
    tags, indexes = slots[:BUCKET_SLOTS], slots[BUCKET_SLOTS:]
    used = sum(index != EMPTY_SLOT for index in indexes)
    if any(index != EMPTY_SLOT for index in indexes[used:]) or any(tags[used:]):
        return None
    return list(zip(tags[:used], indexes[:used]))


def probed(buckets, home):
    """The buckets that a search goes through."""
    for step in range(len(buckets)):
        bucket = buckets[(home + step) % len(buckets)]
        yield bucket
        if len(bucket) < BUCKET_SLOTS:
            return


def bucket_and_tag(key, salt, generation, buckets):
    hashed = siphash13(key, salt, generation)
    return hashed * buckets >> 64, hashed & 0xFFFFFFFF


def block_records(frame, expected_first):
    """The records in a block."""
    damage = SnapshotDamage(frame.start, frame.end)
    if len(frame.payload) < 16:
        raise damage
    first, count, raw_length = struct.unpack_from("<QII", frame.payload)
    if first != expected_first or count == 0 or raw_length > MAX_BLOCK:
        raise damage
    inflater = zlib.decompressobj(-15)
    try:
        raw = inflater.decompress(frame.payload[16:], raw_length + 1)
    except zlib.error:
        raise damage from None
    if len(raw) != raw_length or not inflater.eof or inflater.unused_data:
        raise damage
    records, at = [], 0
    while at < len(raw):
        if at + 6 > len(raw):
            raise damage
        key_length, value_length = struct.unpack_from("<HI", raw, at)
        key_end = at + 6 + key_length
        at, key_start = key_end + value_length, at + 6
        if not is_key_length(key_length) or at > len(raw):
            raise damage
        records.append((raw[key_start:key_end], raw[key_end:at]))
    if len(records) != count:
        raise damage
    return records


def siphash13(data, k0, k1):
    """SipHash with one compression round and three finalisation rounds."""
    mask = 2**64 - 1
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def sip_round(v0, v1, v2, v3):
        def rotl(x, bits):
            return (x << bits | x >> (64 - bits)) & mask

        v0 = (v0 + v1) & mask
        v1 = rotl(v1, 13) ^ v0
        v0 = rotl(v0, 32)
        v2 = (v2 + v3) & mask
        v3 = rotl(v3, 16) ^ v2
        v0 = (v0 + v3) & mask
        v3 = rotl(v3, 21) ^ v0
        v2 = (v2 + v1) & mask
        v1 = rotl(v1, 17) ^ v2
        v2 = rotl(v2, 32)
        return v0, v1, v2, v3

    whole = len(data) - len(data) % 8
    words = [word for (word,) in struct.iter_unpack("<Q", data[:whole])]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3 ^ word)
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(3):
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3
