"""Frames, the record table and file headers: SPEC.md sections 2, 3 and 5."""

import struct
import zlib
from dataclasses import dataclass

HEADER_SIZE = 128
FRAME_OVERHEAD = 9
MAX_PAYLOAD = 64 << 20
MAX_BATCH = 1 << 30
MAX_KEY = 1024
MAX_LSN = 1 << 62
NO_PREDECESSOR = 2**64 - 1

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


class PageError(Exception):
    """Why a page cannot be opened; `code` is one of the error codes of SPEC.md."""

    def __init__(self, code, why):
        super().__init__(f"{code}: {why}")
        self.code = code


# --- Frames (section 2) --------------------------------------------------------------------------------------------


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
            return mark.salt == salt and mark.durable <= frame.start and mark.lsn <= MAX_LSN
        case 9:  # loss
            return size == Loss.FORM.size and frame.first and frame.last and is_possible(parsed_loss(frame))
    return True


def is_possible(loss):
    return HEADER_SIZE <= loss.start < loss.end and max(loss.lsn, loss.count) <= MAX_LSN


def plus(lsn, count):
    """An LSN, further by what a loss or a dropped range counts: claims are capped."""
    return max(lsn, min(lsn + count, MAX_LSN))


def u16(payload, offset):
    return int.from_bytes(payload[offset : offset + 2], "little")


def is_key_length(length):
    return 1 <= length <= MAX_KEY


def named_length(payload):
    """The size of a put-before's or move's lengths, key and `before`; past any payload if out of range."""
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


def refuse_reserved(frame):
    if frame and frame.kind in RESERVED:
        raise PageError("newerVersion", f"a frame at {frame.start} is of kind {frame.kind}")


def parsed_loss(frame):
    return Loss(*Loss.FORM.unpack(frame.payload))


# --- The record table ----------------------------------------------------------------------------------------------


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


# --- Headers (sections 3 and 5) ------------------------------------------------------------------------------------


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
    """(version, state, page id, generation), if magic and CRC are right; version 0 where the length is impossible."""
    if len(data) < HEADER_SIZE or data[:8] != magic:
        return None
    if zlib.crc32(data[:124]) != int.from_bytes(data[124:128], "little"):
        return None
    version, length, _, incompatible, state, page_id, generation = struct.unpack_from("<HHIII16sQ", data, 8)
    if version > 1 or (version == 1 and incompatible):
        raise PageError("newerVersion", "a header is of a newer version")
    return version if length == HEADER_SIZE else 0, state, page_id, generation


def journal_header(data, generation):
    fields = intact_fields(data, JOURNAL_MAGIC)
    if not fields or fields[0] != 1 or fields[3] != generation:
        return None
    salt, base_lsn, predecessor, predecessor_salt, end, initial = struct.unpack_from("<6Q", data, 48)
    if base_lsn > MAX_LSN or initial < HEADER_SIZE:
        return None
    if predecessor == NO_PREDECESSOR:
        predecessor = None
    elif predecessor >= generation or 0 < end < HEADER_SIZE:
        return None
    return JournalHeader(fields[2], generation, salt, base_lsn, predecessor, predecessor_salt, end, initial)


def snapshot_header(data, generation):
    fields = intact_fields(data, SNAPSHOT_MAGIC)
    if not fields or fields[0] != 1 or fields[3] != generation:
        return None
    header = SnapshotHeader(fields[2], generation, *struct.unpack_from("<3Q", data, 48))
    return header if header.lsn <= MAX_LSN else None
