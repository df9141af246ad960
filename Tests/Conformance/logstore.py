"""A reader for LogStore pages, written from SPEC.md alone; section numbers below are those of SPEC.md.

It works on a page held in memory, a mapping from file name to bytes (None for a directory), so that tests can damage
pages without a disk. It opens read-only, and it reads everything: where the engine would verify a snapshot's frames
when it needs them, this reader verifies them all at once.
"""

import os
import re
import struct
import zlib
from dataclasses import dataclass, field

HEADER_SIZE = 128
FRAME_OVERHEAD = 9
MAX_PAYLOAD = 64 << 20
MAX_BATCH = 1 << 30
MAX_KEY = 1024
MAX_BLOCK = 1 << 20
NO_PREDECESSOR = 2**64 - 1
EMPTY_SLOT = 2**32 - 1

JOURNAL_MAGIC = b"\x89LSJ\r\n\x1a\n"
SNAPSHOT_MAGIC = b"\x89LSS\r\n\x1a\n"

PUT, PUT_BEFORE, REMOVE, MOVE, CLEAR, PART, MARK, LOSS = 1, 2, 3, 4, 5, 6, 8, 9
RECORD, BLOCK, ORDER, KEYS, FOOTER = 16, 17, 18, 19, 20
APPLICATION = range(32, 64)
RESERVED = {7, *range(10, 16), *range(21, 32)}
OPERATIONS = {PUT, PUT_BEFORE, REMOVE, MOVE, CLEAR, *APPLICATION}
TAKES_PARTS = {PART, PUT, PUT_BEFORE, RECORD, *APPLICATION}
IN_JOURNAL = OPERATIONS | RESERVED | {PART, MARK, LOSS}
IN_SNAPSHOT = RESERVED | {PART, LOSS, RECORD, BLOCK, ORDER, KEYS, FOOTER, *APPLICATION}

BUCKET_SLOTS = 128
BUCKET_SIZE = FRAME_OVERHEAD + BUCKET_SLOTS * 8
ORDER_ENTRIES = 128
ORDER_ENTRY = struct.Struct("<QI")
FOOTER_SIZE = 65

SALVAGE, STRICT, POINT_IN_TIME = POLICIES = ("salvage", "strict", "pointInTime")
BENIGN = {"torn-tail", "not-closed"}


class PageError(Exception):
    """Why a page cannot be opened; `code` is one of the error codes of SPEC.md."""

    def __init__(self, code, why):
        super().__init__(f"{code}: {why}")
        self.code = code


# --- Frames (section 2) ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    start: int
    end: int
    first: bool
    last: bool
    kind: int
    payload: bytes


@dataclass(frozen=True)
class Mark:
    lsn: int
    durable: int
    time: int
    salt: int
    flags: int

    FORM = struct.Struct("<QQqQB")

    @property
    def closed(self):
        return bool(self.flags & 1)


@dataclass(frozen=True, order=True)
class Loss:
    generation: int
    salt: int
    start: int
    end: int
    lsn: int
    count: int

    FORM = struct.Struct("<6Q")


def frame_crc(salt, offset, frame_type, payload):
    return zlib.crc32(payload, zlib.crc32(struct.pack("<QQIB", salt, offset, len(payload), frame_type)))


def frame_at(data, salt, offset, limit, kinds):
    """The frame that verifies at `offset`, or None."""
    if offset + FRAME_OVERHEAD > limit:
        return None
    length, crc, frame_type = struct.unpack_from("<IIB", data, offset)
    end = offset + FRAME_OVERHEAD + length
    kind = frame_type & 0x3F
    if end > limit or length > MAX_PAYLOAD or kind not in kinds:
        return None
    payload = bytes(data[offset + FRAME_OVERHEAD : end])
    if frame_crc(salt, offset, frame_type, payload) != crc:
        return None
    frame = Frame(offset, end, bool(frame_type & 0x40), bool(frame_type & 0x80), kind, payload)
    return frame if has_its_form(frame, salt) else None


def has_its_form(frame, salt):
    payload, size = frame.payload, len(frame.payload)
    match frame.kind:
        case 1 | 16:  # put, record
            return size >= 2 and is_key_length(key := u16(payload, 0)) and size >= 2 + key
        case 2:  # put-before
            return size >= 4 and is_key_length(u16(payload, 0)) and size >= named_length(payload)
        case 3:  # remove
            return is_key_length(size)
        case 4:  # move
            return size >= 4 and is_key_length(u16(payload, 0)) and size == named_length(payload)
        case 5:  # clear
            return size == 0
        case 8:  # mark
            if size != Mark.FORM.size or not (frame.first and frame.last):
                return False
            mark = Mark(*Mark.FORM.unpack(payload))
            return mark.salt == salt and mark.durable <= frame.start
        case 9:  # loss
            return size == Loss.FORM.size and frame.first and frame.last
    return True


def u16(payload, offset):
    return int.from_bytes(payload[offset : offset + 2], "little")


def is_key_length(length):
    return 1 <= length <= MAX_KEY


def named_length(payload):
    """The size of a put-before's or move's lengths, key and `before`; more than any payload if they are out of range."""
    key, before = u16(payload, 0), u16(payload, 2)
    return 4 + key + before if before <= MAX_KEY else MAX_PAYLOAD + 1


def is_in_place(frame, batch):
    """Whether the frame may stand behind the frames of the open batch (or, without any, begin one)."""
    if frame.first == bool(batch) or (frame.kind == PART and frame.last):
        return False
    if not batch:
        return True
    return (batch[-1].kind != PART or frame.kind in TAKES_PARTS) and frame.end - batch[0].start <= MAX_BATCH


def with_parts(frames):
    """The frames of a batch, each with the bytes of the parts in front of it."""
    parts = []
    for frame in frames:
        if frame.kind == PART:
            parts.append(frame.payload)
        else:
            yield frame, b"".join(parts)
            parts = []


def count_operations(frames):
    return sum(frame.kind in OPERATIONS for frame in frames)


# --- The record table ------------------------------------------------------------------------------------------------


class Table:
    """Ordered records; every operation is defined in every state."""

    def __init__(self, records=()):
        self.values = dict(records)
        self.order = list(self.values)

    def records(self):
        return [(key, self.values[key]) for key in self.order]

    def apply(self, frames):
        for frame, parts in with_parts(frames):
            payload = frame.payload
            if frame.kind == PUT:
                key_end = 2 + u16(payload, 0)
                self.put(payload[2:key_end], parts + payload[key_end:])
            elif frame.kind in (PUT_BEFORE, MOVE):
                key_end = 4 + u16(payload, 0)
                before_end = key_end + u16(payload, 2)
                key, before = payload[4:key_end], payload[key_end:before_end]
                if frame.kind == PUT_BEFORE:
                    self.put(key, parts + payload[before_end:])
                self.move(key, before)
            elif frame.kind == REMOVE:
                self.remove(payload)
            elif frame.kind == CLEAR:
                self.__init__()

    def put(self, key, value):
        if key not in self.values:
            self.order.append(key)
        self.values[key] = value

    def move(self, key, before):
        if key not in self.values or key == before:
            return
        self.order.remove(key)
        self.order.insert(self.order.index(before) if before in self.values else len(self.order), key)

    def remove(self, key):
        if self.values.pop(key, None) is not None:
            self.order.remove(key)


# --- Headers (sections 3 and 5) ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JournalHeader:
    page_id: bytes
    generation: int
    salt: int
    base_lsn: int
    predecessor: int | None  # None: none, the journal starts an empty page
    predecessor_salt: int
    end: int | None  # where the predecessor ends; 0: follows that snapshot; None: unknown (a header made good)
    initial_length: int


@dataclass(frozen=True)
class SnapshotHeader:
    page_id: bytes
    generation: int
    salt: int
    lsn: int
    journal_salt: int


def intact_fields(data, magic):
    """The header's fields up to `generation`, if magic and CRC are right: (version, incompatible, state, id, generation)."""
    if len(data) < HEADER_SIZE or data[:8] != magic or zlib.crc32(data[:124]) != int.from_bytes(data[124:128], "little"):
        return None
    version, _, _, incompatible, state, page_id, generation = struct.unpack_from("<HHIII16sQ", data, 8)
    if version > 1 or (version == 1 and incompatible):
        raise PageError("newerVersion", "a header is of a newer version")
    return version, state, page_id, generation


def journal_header(data, generation):
    fields = intact_fields(data, JOURNAL_MAGIC)
    if not fields or fields[0] != 1 or fields[3] != generation:
        return None
    salt, base_lsn, predecessor, predecessor_salt, end, initial = struct.unpack_from("<6Q", data, 48)
    if predecessor == NO_PREDECESSOR:
        predecessor = None
    return JournalHeader(fields[2], generation, salt, base_lsn, predecessor, predecessor_salt, end, initial)


def snapshot_header(data, generation):
    fields = intact_fields(data, SNAPSHOT_MAGIC)
    if not fields or fields[0] != 1 or fields[3] != generation:
        return None
    return SnapshotHeader(fields[2], generation, *struct.unpack_from("<3Q", data, 48))


# --- Snapshots (section 5) ---------------------------------------------------------------------------------------------


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
    def __init__(self, start, end):
        super().__init__(f"bytes {start} to {end}")
        self.start, self.end = start, end


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
        self.check_keys([key for key, _ in records])
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
    if first != expected_first or raw_length > MAX_BLOCK:
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


# --- The walk (section 7) ----------------------------------------------------------------------------------------------


@dataclass
class Batch:
    start: int
    end: int
    frames: list

    @property
    def operations(self):
        return count_operations(self.frames)

    @property
    def mark(self):
        return Mark(*Mark.FORM.unpack(self.frames[0].payload)) if self.frames[0].kind == MARK else None


@dataclass
class Skipped:
    loss: Loss


@dataclass
class Dropped:
    start: int
    end: int


@dataclass
class TornTail:
    start: int
    end: int


def walk(data, salt, limit, durable_end=None, skips=()):
    """What a journal holds up to `limit`: batches, skipped ranges, damage, and perhaps a torn tail at the end.

    Without a `durable_end` everything up to `limit` had been durable, so that every fault is damage.
    """
    events, pos = [], HEADER_SIZE
    for loss in sorted(skips, key=lambda loss: (loss.start, loss.end)):
        if loss.start >= limit or loss.end <= pos or loss.end <= loss.start:
            continue
        events += walk_range(data, salt, pos, max(pos, loss.start), durable_end)
        if events and isinstance(events[-1], TornTail):
            return events
        events.append(Skipped(loss))
        pos = min(loss.end, limit)
    return events + walk_range(data, salt, pos, limit, durable_end)


def walk_range(data, salt, start, limit, durable_end):
    events, batch = [], []
    good = pos = start
    while pos < limit or batch:
        frame = frame_at(data, salt, pos, limit, IN_JOURNAL)
        refuse_reserved(frame)
        if frame and is_in_place(frame, batch):
            batch.append(frame)
            pos = frame.end
            if frame.last:
                events.append(Batch(good, pos, batch))
                good, batch = pos, []
            continue
        if frame and frame.first and batch:
            fault, resume = good, pos
        else:
            fault, resume = pos, resume_behind(data, salt, pos, limit)
        if durable_end is not None and fault >= durable_end:
            events.append(TornTail(good, len(data)))
            return events
        end = next_first_frame(data, salt, resume, limit)
        if end is None:
            end = limit if durable_end is None else min(durable_end, limit)
        events.append(Dropped(good, end))
        good, pos, batch = end, end, []
    return events


def next_first_frame(data, salt, pos, limit):
    """Where the first frame with bit 6 starts, going on from `pos` over frames and faults."""
    while pos is not None and pos < limit:
        frame = frame_at(data, salt, pos, limit, IN_JOURNAL)
        if frame and frame.first:
            return pos
        pos = frame.end if frame else resume_behind(data, salt, pos, limit)
    return None


def resume_behind(data, salt, fault, limit):
    """Resume(X): where a frame can be trusted to start behind a fault, or None."""

    def frame(offset):
        return frame_at(data, salt, offset, limit, IN_JOURNAL)

    if fault + FRAME_OVERHEAD <= limit:
        length = int.from_bytes(data[fault : fault + 4], "little")
        candidate = fault + FRAME_OVERHEAD + length
        if length <= MAX_PAYLOAD and candidate <= limit and frame(candidate):
            return candidate
    for candidate in range(fault + 1, limit - FRAME_OVERHEAD + 1):
        found = frame(candidate)
        if found and (found.kind == MARK or found.end == limit or frame(found.end)):
            return candidate
    return None


def refuse_reserved(frame):
    if frame and frame.kind in RESERVED:
        raise PageError("newerVersion", f"a frame at {frame.start} is of kind {frame.kind}")


def parsed_loss(frame):
    return Loss(*Loss.FORM.unpack(frame.payload))


def marks_in(events):
    return [event.mark for event in events if isinstance(event, Batch) and event.mark]


def losses_in(events):
    return [parsed_loss(e.frames[0]) for e in events if isinstance(e, Batch) and e.frames[0].kind == LOSS]


# --- The chain (section 6) ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    kind: str
    file: str
    start: int | None = None
    end: int | None = None
    lost: int | None = None

    def sort_key(self):
        return (self.file, -1 if self.start is None else self.start, self.kind)


@dataclass
class Chain:
    base: Snapshot | None  # None: an empty table
    journals: list  # of headers, oldest first


def name_of(generation, kind):
    return f"{generation:010}.{kind}"


class Files:
    """A page's directory, and what its headers say."""

    def __init__(self, files):
        self.names = set(files)
        self.journals, self.snapshots, self.directories = {}, {}, set()
        for name, data in files.items():
            if match := re.fullmatch(r"([0-9]{10})\.(journal|snapshot)", name):
                if data is None:
                    self.directories.add(name)
                else:
                    (self.journals if match[2] == "journal" else self.snapshots)[int(match[1])] = data
        self.headers = {n: journal_header(data, n) for n, data in self.journals.items()}
        self.page_id = self.find_page_id()
        for files_of_kind, magic in ((self.journals, JOURNAL_MAGIC), (self.snapshots, SNAPSHOT_MAGIC)):
            for n in [n for n, data in files_of_kind.items() if self.is_strange(data, magic)]:
                del files_of_kind[n]
        self.refused_snapshots = set()
        self.findings = set()

    def find_page_id(self):
        for n in sorted(self.headers, reverse=True):
            if self.headers[n]:
                return self.headers[n].page_id
        for n in sorted(self.snapshots, reverse=True):
            try:
                return Snapshot.open(self.snapshots[n], n).header.page_id
            except SnapshotDamage:
                pass
        return None

    def is_strange(self, data, magic):
        fields = intact_fields(data, magic)
        return bool(fields) and self.page_id is not None and fields[2] != self.page_id

    def report(self, kind, generation, file_kind, *where):
        self.findings.add(Finding(kind, name_of(generation, file_kind), *where))

    # Snapshots

    def snapshot(self, generation):
        """The snapshot of that number if it verifies; a finding if it is there and does not."""
        if generation not in self.snapshots or generation in self.refused_snapshots:
            return None
        try:
            return Snapshot.open(self.snapshots[generation], generation)
        except SnapshotDamage as damage:
            self.report("damaged-snapshot", generation, "snapshot", damage.start, damage.end)
            return None

    def refuse_snapshot(self, generation, damage):
        self.report("damaged-snapshot", generation, "snapshot", damage.start, damage.end)
        self.refused_snapshots.add(generation)

    def verifying_snapshot(self, generation):
        """As `snapshot`, for what its header says alone: with no finding, and whatever its records are like."""
        try:
            return Snapshot.open(self.snapshots[generation], generation) if generation in self.snapshots else None
        except SnapshotDamage:
            return None

    # Journal headers

    def header(self, generation):
        """The journal's header, made good if it does not verify; None if the journal is unusable."""
        if self.headers[generation]:
            return self.headers[generation]
        self.report("damaged-header", generation, "journal", 0, HEADER_SIZE)
        return self.header_made_good(generation)

    def header_made_good(self, generation):
        data = self.journals[generation]
        snapshot = self.verifying_snapshot(generation)
        successor = self.successor_of(generation)
        salt = snapshot.header.journal_salt if snapshot else successor.predecessor_salt if successor else salt_of_a_mark(data)
        if salt is None:
            return None
        if snapshot:
            base_lsn = snapshot.header.lsn
        else:
            base_lsn = base_lsn_by_mark(data, salt)
            if base_lsn is None and successor:
                base_lsn = base_lsn_by_successor(data, salt, successor)
        if base_lsn is None:
            return None
        predecessor, predecessor_salt, end = self.likely_predecessor(generation)
        return JournalHeader(
            self.page_id, generation, salt, base_lsn, predecessor, predecessor_salt, end, HEADER_SIZE
        )

    def successor_of(self, generation):
        """The highest journal that follows this one's bytes, by its header."""
        naming = [n for n in self.journals if (h := self.headers[n]) and h.predecessor == generation and h.end]
        return self.headers[max(naming)] if naming else None

    def likely_predecessor(self, generation):
        """(predecessor, its salt, its end) where the header does not say."""
        lower = [n for n in self.journals if n < generation and self.headers[n]]
        if lower:
            return max(lower), self.headers[max(lower)].salt, None
        if generation == 0:
            return None, 0, 0
        for n in sorted((n for n in self.snapshots if n < generation), reverse=True):
            if snapshot := self.verifying_snapshot(n):
                return n, snapshot.header.journal_salt, 0
        return generation, 0, 0  # nothing to follow: it cannot follow itself, so no chain leads on

    # The chain

    def chain_from(self, generation):
        """The chain of journal `generation`, or None where no chain leads from it."""
        header = self.header(generation)
        journals = []
        while header:
            journals.insert(0, header)
            snapshot = self.snapshot(header.generation)
            if snapshot and snapshot.header.journal_salt == header.salt:
                return Chain(snapshot, journals)
            if header.predecessor is None:
                return Chain(None, journals)
            if header.predecessor >= header.generation:
                return None
            if header.end == 0:
                base = self.base_by_number(header)
                return Chain(base, journals) if base else None
            header = self.predecessor_of(header)
        return None

    def base_by_number(self, header):
        name = name_of(header.predecessor, "snapshot")
        self.refuse_directory(name)
        snapshot = self.snapshot(header.predecessor)
        if snapshot and snapshot.header.journal_salt == header.predecessor_salt:
            return snapshot
        if snapshot or header.predecessor not in self.snapshots:
            self.report("missing", header.predecessor, "snapshot")
        return None

    def predecessor_of(self, header):
        self.refuse_directory(name_of(header.predecessor, "journal"))
        if header.predecessor in self.journals:
            predecessor = self.header(header.predecessor)
            if not predecessor or predecessor.salt == header.predecessor_salt:
                return predecessor
        self.report("missing", header.predecessor, "journal")
        return None

    def refuse_directory(self, name):
        if name in self.directories:
            raise PageError("foreignFile", f"{name} is a directory")

    def find_chain(self):
        """(n, the chain from n), with findings for what lies above; None for an empty page."""
        numbers = sorted({*self.journals, *self.snapshots}, reverse=True)
        for n in numbers:
            chain = self.chain_at(n)
            if chain:
                for higher in numbers[: numbers.index(n)]:
                    for kind, present in (("journal", self.journals), ("snapshot", self.snapshots)):
                        if higher in present:
                            self.report("cut-off", higher, kind)
                return n, chain
        if not self.names or self.names == {"0000000000.journal.tmp"}:
            return None
        raise self.error_without_chain(numbers)

    def chain_at(self, n):
        if n in self.journals:
            return self.chain_from(n)
        snapshot = self.snapshot(n)
        if not snapshot:
            return None
        self.refuse_directory(name_of(n, "journal"))
        self.report("missing", n, "journal")
        return Chain(snapshot, [])

    def error_without_chain(self, numbers):
        directories = [int(name[:10]) for name in self.directories]
        highest = max([*numbers, *directories], default=None)
        foreign = False
        if highest in self.journals:
            foreign = not self.journals[highest].startswith(JOURNAL_MAGIC) and not self.header(highest)
        elif highest is not None:
            foreign = highest in directories or not self.snapshots[highest].startswith(SNAPSHOT_MAGIC)
        if foreign:
            return PageError("foreignFile", f"the file of generation {highest} is not one of a page")
        return PageError("noBase", "nothing to start from")


def salt_of_a_mark(data):
    """The salt that the first mark in the file carries, found at any offset."""
    for offset in range(len(data) - FRAME_OVERHEAD - Mark.FORM.size + 1):
        if data[offset] == Mark.FORM.size and data[offset + 8] == 0xC0 | MARK:
            salt = int.from_bytes(data[offset + FRAME_OVERHEAD + 24 : offset + FRAME_OVERHEAD + 32], "little")
            if frame_at(data, salt, offset, len(data), {MARK}):
                return salt
    return None


def base_lsn_by_mark(data, salt):
    operations = 0
    for event in walk(data, salt, len(data)):
        if not isinstance(event, Batch):
            return None
        if event.mark:
            return event.mark.lsn - operations if event.mark.lsn >= operations else None
        operations += event.operations
    return None


def base_lsn_by_successor(data, salt, successor):
    if successor.end > len(data):
        return None
    events = walk(data, salt, successor.end)
    if not all(isinstance(event, Batch) for event in events):
        return None
    operations = sum(event.operations for event in events)
    return successor.base_lsn - operations if successor.base_lsn >= operations else None


# --- Replay (section 7) ------------------------------------------------------------------------------------------------


@dataclass
class Opened:
    table: Table = field(default_factory=Table)
    lsn: int = 0
    findings: list = field(default_factory=list)

    @property
    def incomplete(self):
        return any(finding.kind in ("missing", "cut-off") for finding in self.findings)

    @property
    def verdict(self):
        kinds = {finding.kind for finding in self.findings}
        return "clean" if not kinds else "benign" if kinds <= BENIGN else "damage"


def open_page(files, policy=SALVAGE):
    """Opens a page given as a mapping from names to bytes (None for a directory)."""
    page = Files(files)
    found = page.find_chain()
    if not found:
        return Opened()
    n, chain = found
    table, losses = Table(), []
    while chain.base:
        try:
            table, losses = Table(chain.base.records()), chain.base.losses()
            break
        except SnapshotDamage as damage:
            page.refuse_snapshot(chain.base.header.generation, damage)
            chain = page.chain_from(n) if n in page.journals else None
            if not chain:
                raise PageError("damaged", f"a snapshot's {damage}, and no kept generation to read instead") from None
    opened = replay(page, chain, table, losses, policy)
    if policy == STRICT and {f.kind for f in opened.findings} - BENIGN - {"recorded-loss"}:
        raise PageError("damaged", "damage or a gap, under the strict policy")
    return opened


@dataclass
class Link:
    """A journal of the chain: what is to be replayed, and what it is cut to."""

    header: JournalHeader
    successor: JournalHeader | None
    data: bytes
    limit: int
    expected_length: int

    @property
    def is_short(self):
        return len(self.data) < self.expected_length

    @property
    def has_unknown_end(self):
        return self.successor is not None and self.successor.end is None

    def walk(self, losses):
        sealed = self.successor or self.is_short
        skips = [loss for loss in losses if (loss.generation, loss.salt) == (self.header.generation, self.header.salt)]
        return walk(self.data, self.header.salt, self.limit, None if sealed else self.durable_end(), skips)

    def durable_end(self):
        marks = marks_in(walk(self.data, self.header.salt, len(self.data)))
        durable = max([self.header.initial_length, *(mark.durable for mark in marks)])
        return min(durable, len(self.data))


def links_of(page, chain):
    for header, successor in zip(chain.journals, [*chain.journals[1:], None]):
        data = page.journals[header.generation]
        if successor and successor.end is not None:
            limit = expected = successor.end
        else:
            limit, expected = len(data), HEADER_SIZE if successor else header.initial_length
        yield Link(header, successor, data, min(limit, len(data)), expected)


def replay(page, chain, table, losses, policy):
    links = list(links_of(page, chain))
    walks = []
    for link in reversed(links):
        walks.insert(0, link.walk(losses))
        losses = losses + [loss for loss in losses_in(walks[0]) if loss not in losses]
    for loss in losses:
        page.report("recorded-loss", loss.generation, "journal", loss.start, loss.end, loss.count)
    lsn = chain.base.header.lsn if chain.base else 0
    for index, (link, events) in enumerate(zip(links, walks)):
        lsn, goes_on = replay_journal(page, link, events, table, policy)
        if not goes_on:
            for behind in links[index + 1 :]:
                page.report("cut-off", behind.header.generation, "journal")
            break
    return Opened(table, lsn, sorted(page.findings, key=Finding.sort_key))


def replay_journal(page, link, events, table, policy):
    """Applies a journal's events; returns the LSN reached, and whether what lies behind still counts."""
    generation = link.header.generation
    lsn = link.header.base_lsn
    stop_at = link.successor.base_lsn if link.has_unknown_end else None
    for index, event in enumerate(events):
        if stop_at is not None and (lsn >= stop_at or isinstance(event, Batch) and lsn + event.operations > stop_at):
            break
        if isinstance(event, Batch):
            table.apply(event.frames)
            lsn = event.mark.lsn if event.mark else lsn + event.operations
        elif isinstance(event, Skipped):
            lsn += event.loss.count
        elif isinstance(event, Dropped):
            lost = lost_operations(event, events[index + 1 :], lsn, link)
            page.report("damaged-frame", generation, "journal", event.start, event.end, lost)
            if policy == POINT_IN_TIME:
                return lsn, False
            lsn += lost
        else:
            page.report("torn-tail", generation, "journal", event.start, event.end)
    if link.is_short:
        page.report("missing", generation, "journal", len(link.data), link.expected_length)
        return lsn, False
    if stop_at is not None and lsn < stop_at:
        page.report("missing", generation, "journal", len(link.data))
        return lsn, False
    if not link.successor and not ends_closed(events, len(link.data)):
        page.report("not-closed", generation, "journal")
    return lsn, True


def lost_operations(dropped, events_behind, lsn, link):
    """How many operations a dropped range held, by the next LSN that is known."""
    known = 0
    for event in events_behind:
        if isinstance(event, Batch):
            if event.mark:
                return max(0, event.mark.lsn - known - lsn)
            known += event.operations
        elif isinstance(event, Skipped):
            known += event.loss.count
        else:
            break
    else:
        if link.successor and not link.is_short:
            return max(0, link.successor.base_lsn - known - lsn)
    return (dropped.end - dropped.start) // FRAME_OVERHEAD


def ends_closed(events, length):
    """Whether the journal ends with a close mark; a torn tail is not asked whether it was closed."""
    if not events:
        return False
    last = events[-1]
    return isinstance(last, TornTail) or isinstance(last, Batch) and last.end == length and last.mark and last.mark.closed


# --- Pages on disk -------------------------------------------------------------------------------------------------------


def load(path):
    """The page in a directory, as a mapping from names to bytes (None for a directory)."""
    try:
        return {entry.name: None if entry.is_dir() else read_file(entry.path) for entry in os.scandir(path)}
    except OSError as error:
        raise PageError("unavailable", error) from None


def read_file(path):
    with open(path, "rb") as file:
        return file.read()
