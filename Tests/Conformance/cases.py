"""The golden cases: pages, and what SPEC.md says that a reader makes of them.

No expectation here comes from running a reader. Records, LSNs and lost operations are written down case by case; byte
ranges come from where the writer put the frames.
"""

import base64
import json
import zlib
from dataclasses import replace

from writer import (
    FIRST, Journal, Loss, NONE, Snapshot, application, clear, move, put, put_before, remove,
)  # fmt: skip

SALT0, SALT1, SALT2, SALT3 = 0x1F2E3D4C5B6A7980, 0xA1B2C3D4E5F60718, 0x0123456789ABCDEF, 0x8877665544332211
SNAPSHOT_SALT = 0xC0FFEE1234567890
OTHER_PAGE = bytes.fromhex("00112233445566778899aabbccddeeff")

CASES = {}


def case(name, files, salvage, strict=None, point_in_time=None):
    """Registers a case. Without other word all policies agree, except that strict does not open a page with damage."""
    assert name not in CASES
    if strict is None:
        strict = DAMAGED if salvage["verdict"] == "damage" else salvage
    CASES[name] = files, {"salvage": salvage, "strict": strict, "pointInTime": point_in_time or salvage}


# --- What is expected ----------------------------------------------------------------------------------------------


def expect(records, lsn, *findings):
    kinds = {finding["kind"] for finding in findings}
    return {
        "verdict": "clean" if not kinds else "benign" if kinds <= {"torn-tail", "not-closed"} else "damage",
        "error": None,
        "lsn": lsn,
        "records": len(records),
        "digest": f"{zlib.crc32(json_lines(records)):08x}",
        "incomplete": bool(kinds & {"missing", "cut-off"}),
        "findings": sorted(findings, key=lambda f: (f["file"], -1 if f["start"] is None else f["start"], f["kind"])),
    }


def error(code):
    return {**expect({}, 0), "verdict": "error", "error": code}


def json_lines(records):
    lines = []
    for pair in dict(records).items():
        members = {}
        for name, data in zip(("key", "value"), pair):
            try:
                members[name] = data.decode()
            except UnicodeDecodeError:
                members[name + "64"] = base64.b64encode(data).decode()
        lines.append(json.dumps(members, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines).encode()


def finding(kind, file, start=None, end=None, lost=None):
    return {"kind": kind, "file": file, "start": start, "end": end, "lost": lost}


def dropped(file, start, end, lost):
    return finding("damaged-frame", file, start, end, lost)


def torn(file, start, end):
    return finding("torn-tail", file, start, end)


def not_closed(file):
    return finding("not-closed", file)


def bad_header(file):
    return finding("damaged-header", file, 0, 128)


def bad_snapshot(file, start, end):
    return finding("damaged-snapshot", file, start, end)


def missing(file, start=None, end=None):
    return finding("missing", file, start, end)


def cut_off(file):
    return finding("cut-off", file)


def recorded(loss):
    known = (None, None) if loss.end == NONE else (loss.end, loss.count)
    return finding("recorded-loss", journal_name(loss.generation), loss.start, *known)


DAMAGED, NEWER, FOREIGN, NO_BASE = error("damaged"), error("newerVersion"), error("foreignFile"), error("noBase")


# --- Pages and what befalls them -----------------------------------------------------------------------------------


def journal_name(generation):
    return f"{generation:010}.journal"


def snapshot_name(generation):
    return f"{generation:010}.snapshot"


JOURNAL0, JOURNAL1, JOURNAL2, JOURNAL3 = map(journal_name, range(4))
SNAPSHOT0, SNAPSHOT1 = map(snapshot_name, range(2))


def flip(file, offset, bit=0):
    data = bytearray(file if isinstance(file, bytes) else file.bytes())
    data[offset] ^= 1 << bit
    return bytes(data)


def overwrite(file, offset, patch):
    data = bytearray(file if isinstance(file, bytes) else file.bytes())
    data[offset : offset + len(patch)] = patch
    return bytes(data)


def noise(count):
    """Bytes that look like nothing."""
    state, out = 12345, bytearray()
    while len(out) < count:
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(state >> 16 & 0xFF)
    return bytes(out)


def numbered(keys):
    """{a: 1, b: 2, …}: in these pages a letter's value is its place in the alphabet."""
    return {key.encode(): str(ord(key) - 96).encode() for key in keys}


def letter(key):
    return put(key.encode(), str(ord(key) - 96).encode())


def sample(*, close=True):
    """Frames: 0 mark, 1 a, 2 b, 3 to 5 the batch (c, d, remove a), 6 mark, 7 e, 8 f, 9 the close mark. LSN 7."""
    journal = Journal(0, SALT0)
    journal.mark()
    journal.batch(letter("a"))
    journal.batch(letter("b"))
    journal.batch(letter("c"), letter("d"), remove(b"a"))
    journal.mark()
    journal.batch(letter("e"))
    journal.batch(letter("f"))
    if close:
        journal.mark(closed=True)
    return journal


def sample_next(first, **options):
    """Behind losses and carried batches: mark, g, remove b, the close mark. LSN 9 if nothing is carried."""
    journal = first.successor(SALT1, **options)
    journal.mark()
    journal.batch(letter("g"))
    journal.batch(remove(b"b"))
    journal.mark(closed=True)
    return journal


def sample_third(second, **options):
    """Mark, h, the close mark. LSN 10."""
    journal = second.successor(SALT2, **options)
    journal.mark()
    journal.batch(letter("h"))
    journal.mark(closed=True)
    return journal


FIRST_STATE, SECOND_STATE, THIRD_STATE = numbered("bcdef"), numbered("cdefg"), numbered("cdefgh")

J0 = sample()
J1 = sample_next(J0)
J2 = sample_third(J1)
S1 = Snapshot(J1, SNAPSHOT_SALT, list(FIRST_STATE.items()))
DEFLATED1 = Snapshot(J1, SNAPSHOT_SALT, list(FIRST_STATE.items()), block_size=3)


# --- Healthy pages -------------------------------------------------------------------------------------------------


def healthy():
    case("empty", {}, expect({}, 0))
    case("temporary-only", {"0000000000.journal.tmp": J0.bytes()[:60]}, expect({}, 0))
    case("journal", {JOURNAL0: J0.bytes()}, expect(FIRST_STATE, 7))

    every = Journal(0, SALT0)
    every.mark()
    for operation in (
        put(b"a", b"1"),
        put(b"b", b"2"),
        put(b"c", b"3"),
        put_before(b"d", b"b", b"4"),  # a d b c
        put_before(b"c", b"a", b"30"),  # c a d b: it moves
        put_before(b"x", b"absent", b"7"),  # c a d b x
        put_before(b"b", b"b", b"20"),  # itself: stays
        put_before(b"n", b"n", b"9"),  # c a d b x n: itself, and new: to the end
        put_before(b"a", b"", b"10"),  # c d b x n a: the empty key is always absent
        remove(b"d"),  # c b x n a
        remove(b"absent"),
        move(b"a", b"c"),  # a c b x n
        move(b"c"),  # a b x n c
        move(b"b", b"absent"),  # a x n c b
        move(b"x", b"x"),
        move(b"absent", b"a"),
        put(b"x", b"70"),  # in place
        application(40, b"of no concern to the record table"),
    ):
        every.batch(operation)
    every.mark(closed=True)
    result = {b"a": b"10", b"x": b"70", b"n": b"9", b"c": b"30", b"b": b"20"}
    case("operations", {JOURNAL0: every.bytes()}, expect(result, 18))

    cleared = Journal(0, SALT0)
    cleared.mark()
    cleared.batch(letter("a"))
    cleared.batch(letter("b"), clear(), letter("c"))
    cleared.mark(closed=True)
    case("clear", {JOURNAL0: cleared.bytes()}, expect(numbered("c"), 4))

    parts = Journal(0, SALT0)
    parts.mark()
    parts.batch(put(b"a", b"third", parts=[b"first ", b"second "]))
    parts.batch(letter("b"), put_before(b"c", b"a", b"!", parts=[b"in front", b""]), letter("d"))
    parts.batch(application(63, b"tail", parts=[b"head "]))
    parts.batch(put(b"d", b"", parts=[b"all of it"]))
    parts.mark(closed=True)
    result = {b"c": b"in front!", b"a": b"first second third", b"b": b"2", b"d": b"all of it"}
    case("parts", {JOURNAL0: parts.bytes()}, expect(result, 6))

    texts = {
        b'"quoted" \\ and /': b"\b\f\n\r\t\x00\x01\x1f\x7f",
        "grüße, 世界 🌍\u2028".encode(): b"",
        b"\xff\xfe": b"a value in text",
        b"a key in text": b"\x80",
        b"\xed\xa0\x80": b"a lone surrogate is not UTF-8",
        b"k" * 1024: b"the longest key",
    }
    journal = Journal(0, SALT0)
    journal.mark()
    for key, value in texts.items():
        journal.batch(put(key, value))
    journal.mark(closed=True)
    case("texts", {JOURNAL0: journal.bytes()}, expect(texts, 6))

    case("snapshot-raw", {SNAPSHOT1: S1.bytes(), JOURNAL1: J1.bytes()}, expect(SECOND_STATE, 9))
    case("snapshot-deflated", {SNAPSHOT1: DEFLATED1.bytes(), JOURNAL1: J1.bytes()}, expect(SECOND_STATE, 9))
    big = {**FIRST_STATE, b"long": b"0123456789" * 5}
    snapshot = Snapshot(J1, SNAPSHOT_SALT, list(big.items()), part_size=16)
    case("snapshot-parts", {SNAPSHOT1: snapshot.bytes(), JOURNAL1: J1.bytes()},
         expect({**numbered("cdef"), b"long": big[b"long"], **numbered("g")}, 9))  # fmt: skip
    many = {b"key %d" % i: b"%d" % (i * i) for i in range(130)}
    snapshot = Snapshot(J1, SNAPSHOT_SALT, list(many.items()), block_size=50)
    case("snapshot-many", {SNAPSHOT1: snapshot.bytes(), JOURNAL1: J1.bytes()}, expect({**many, **numbered("g")}, 9))
    snapshot = Snapshot(J1, SNAPSHOT_SALT, [])
    case("snapshot-of-nothing", {SNAPSHOT1: snapshot.bytes(), JOURNAL1: J1.bytes()}, expect(numbered("g"), 9))

    kept = {JOURNAL0: J0.bytes(), SNAPSHOT1: S1.bytes(), JOURNAL1: J1.bytes()}
    case("generations-kept", kept, expect(SECOND_STATE, 9))
    case("chain-of-three", {JOURNAL0: J0.bytes(), JOURNAL1: J1.bytes(), JOURNAL2: J2.bytes()}, expect(THIRD_STATE, 10))

    # Journal 1 failed after its rename; the next try took number 2 and the same predecessor and E.
    orphan = J0.successor(SALT1, carried=[[letter("z")]])
    retry = sample_third(J0, generation=2)
    case("orphan", {JOURNAL0: J0.bytes(), JOURNAL1: orphan.bytes(), JOURNAL2: retry.bytes()},
         expect(numbered("bcdefh"), 8))  # fmt: skip
    case("orphan-damaged", {JOURNAL0: J0.bytes(), JOURNAL1: flip(orphan, 50), JOURNAL2: retry.bytes()},
         expect(numbered("bcdefh"), 8))  # fmt: skip

    # Known durable up to the second mark; e and f are written again in journal 1, and replayed from there alone.
    crashed = sample(close=False)
    e = crashed.frames[6].start
    carrier = sample_next(crashed, end=e, base_lsn=5, carried=[[letter("e")], [letter("f")]])
    case("carried", {JOURNAL0: crashed.bytes(), JOURNAL1: carrier.bytes()}, expect(SECOND_STATE, 9))

    follows = Journal(2, SALT2, follows=(1, SALT1, 0), base_lsn=7)
    follows.mark()
    follows.batch(letter("h"))
    follows.mark(closed=True)
    case("follows-snapshot", {SNAPSHOT1: S1.bytes(), JOURNAL2: follows.bytes()}, expect(numbered("bcdefh"), 8))

    strangers = {
        JOURNAL0: J0.bytes(),
        "0000000000 (conflicted copy).journal": J1.bytes(),
        "0000000001.journal~": J1.bytes(),
        "00000000001.journal": J1.bytes(),
        "0000000001.JOURNAL": J1.bytes(),
        "0000000001.journal.tmp": J1.bytes()[:130],
        "0000000000.00000000000001a4.quarantine": b"bytes set aside",
        "notes.txt": b"a stranger",
    }
    case("strangers", strangers, expect(FIRST_STATE, 7))
    case("strangers-only", {"notes.txt": b"a stranger"}, expect({}, 0))
    case("temporary-of-generation-1-only", {"0000000001.journal.tmp": J1.bytes()}, NO_BASE)
    case("compatible-feature", {JOURNAL0: closed_journal(compatible=0x80000001).bytes()}, expect(numbered("a"), 1))


def closed_journal(**options):
    journal = Journal(0, SALT0, **options)
    journal.mark()
    journal.batch(letter("a"))
    journal.mark(closed=True)
    return journal


# --- Ends without a close mark -------------------------------------------------------------------------------------


def ends():
    open_end = sample(close=False)
    case("not-closed", {JOURNAL0: open_end.bytes()}, expect(FIRST_STATE, 7, not_closed(JOURNAL0)))
    open_end.mark()
    case("not-closed-mark", {JOURNAL0: open_end.bytes()}, expect(FIRST_STATE, 7, not_closed(JOURNAL0)))
    case("header-only", {JOURNAL0: Journal(0, SALT0).bytes()}, expect({}, 0, not_closed(JOURNAL0)))
    reopened = sample()
    reopened.batch(letter("g"))
    case("closed-then-more", {JOURNAL0: reopened.bytes()}, expect(numbered("bcdefg"), 8, not_closed(JOURNAL0)))

    # Frames: 0 mark, 1 a, 2 b, 3 mark, 4 to 6 the batch (c, d, remove a), 7 e. D is where frame 3 starts.
    tail = Journal(0, SALT0)
    tail.mark()
    tail.batch(letter("a"))
    tail.batch(letter("b"))
    tail.mark()
    tail.batch(letter("c"), letter("d"), remove(b"a"))
    tail.batch(letter("e"))
    data, at = tail.bytes(), [frame.start for frame in tail.frames]

    def torn_case(name, data, start, records, lsn):
        case(f"torn-{name}", {JOURNAL0: data}, expect(numbered(records), lsn, torn(JOURNAL0, start, len(data))))

    torn_case("in-frame-header", data[: at[7] + 5], at[7], "bcd", 5)
    torn_case("in-payload", data[:-1], at[7], "bcd", 5)
    torn_case("in-batch", data[: at[5] + 10], at[4], "ab", 2)
    torn_case("unfinished-batch", data[: at[6]], at[4], "ab", 2)
    torn_case("zeros", data + bytes(64), len(data), "bcde", 6)
    torn_case("ones", data + b"\xff" * 64, len(data), "bcde", 6)
    torn_case("noise", data + noise(200), len(data), "bcde", 6)
    # Behind D a frame that verifies does not bring back what is behind the fault.
    torn_case("batch-then-whole-frame", flip(data, at[5] + 9), at[4], "ab", 2)
    # The known limit: rot in the last group, without a mark behind it.
    torn_case("rot-in-last-frame", flip(data, at[7] + 9), at[7], "bcd", 5)
    # A copy of frame 1, where it does not belong.
    torn_case("moved-frame", data + data[at[1] : at[2]], len(data), "bcde", 6)
    # Below D this would be damage.
    torn_case("close-mark-damaged", flip(J0, J0.frames[9].start + 4), J0.frames[9].start, "bcdef", 7)

    reopened = sample(close=False)
    start = reopened.end
    reopened.one(FIRST | 1, put(b"x", b"y")[0][1])
    reopened.batch(letter("g"))
    torn_case("first-frame-in-batch", reopened.bytes(), start, "bcdef", 7)


# --- Damaged frames ------------------------------------------------------------------------------------------------


def damaged_frames():
    at = [frame.start for frame in J0.frames]

    def single(name, data, first, next_first, lost, records, until, until_lsn):
        """Damage in journal 0 alone; `until` is what stands in front of it."""
        found = dropped(JOURNAL0, at[first], at[next_first], lost)
        case(f"damage-{name}", {JOURNAL0: data}, expect(numbered(records), 7, found),
             point_in_time=expect(numbered(until), until_lsn, found))  # fmt: skip

    # Frame 1 (a) in the middle: the batch behind removes a anyway. The mark behind knows of 5, 4 of them are there.
    for name, data in {
        "length": flip(J0, at[1]),
        "length-2-gib": overwrite(J0, at[1], b"\xff\xff\xff\x7f"),
        "length-4-gib": overwrite(J0, at[1], b"\xff\xff\xff\xff"),
        "length-to-file-end": overwrite(J0, at[1], (J0.end - at[1] - 9).to_bytes(4, "little")),
        "crc": flip(J0, at[1] + 5, 3),
        "type": flip(J0, at[1] + 8, 1),
        "type-first": flip(J0, at[1] + 8, 6),
        "type-last": flip(J0, at[1] + 8, 7),
        "type-zero": overwrite(J0, at[1] + 8, b"\xc0"),
        "payload": flip(J0, at[1] + 12, 7),
        "zeroed": overwrite(J0, at[1], bytes(at[2] - at[1])),
    }.items():
        single(name, data, 1, 2, 1, "bcdef", "", 0)
    single("moved-frame", overwrite(J0, at[2], J0.bytes()[at[1] : at[2]]), 2, 3, 1, "cdef", "a", 1)
    # A batch goes whole: a stays, c and d are not there; three operations lost.
    for name, index in (("batch-first", 3), ("batch-middle", 4), ("batch-last", 5)):
        single(name, flip(J0, at[index] + 9), 3, 6, 3, "abef", "ab", 2)
    single("first-mark", flip(J0, at[0] + 9), 0, 1, 0, "bcdef", "", 0)
    single("mark", flip(J0, at[6] + 9), 6, 7, 0, "bcdef", "bcd", 5)
    single("last-frame-before-mark", flip(J0, at[8] + 9), 8, 9, 1, "bcde", "bcde", 6)
    single("neighbours", flip(flip(J0, at[1] + 9), at[2] + 9), 1, 3, 2, "cdef", "", 0)

    # A mark between: each is counted by its own.
    first, second = dropped(JOURNAL0, at[2], at[3], 1), dropped(JOURNAL0, at[7], at[8], 1)
    case("damage-twice", {JOURNAL0: flip(flip(J0, at[2] + 9), at[7] + 9)}, expect(numbered("cdf"), 7, first, second),
         point_in_time=expect(numbered("a"), 1, first))  # fmt: skip

    # No mark between: the first counts one for each whole 9 bytes (49 of them: 5). Both together lost 2 by the mark behind;
    # the second counts no more than that, and no more than its own 13 bytes hold: 1.
    long = Journal(0, SALT0)
    long.mark()
    long.batch(put(b"a", b"x" * 37))
    long.batch(letter("b"))
    long.batch(letter("c"))
    long.mark(closed=True)
    places = [frame.start for frame in long.frames]
    first, second = dropped(JOURNAL0, places[1], places[2], 5), dropped(JOURNAL0, places[3], places[4], 1)
    case("damage-estimated", {JOURNAL0: flip(flip(long, places[1] + 9), places[3] + 9)},
         expect(numbered("b"), 3, first, second), point_in_time=expect({}, 0, first))  # fmt: skip

    # An unfinished batch below D: the next frame has bit 6.
    broken = Journal(0, SALT0)
    broken.mark()
    broken.batch(letter("a"))
    start = broken.end
    broken.one(FIRST | 1, put(b"x", b"y")[0][1])
    end = broken.end
    broken.batch(letter("b"))
    broken.mark(closed=True)
    found = dropped(JOURNAL0, start, end, 0)
    case("damage-unfinished-batch", {JOURNAL0: broken.bytes()}, expect(numbered("ab"), 2, found),
         point_in_time=expect(numbered("a"), 1, found))  # fmt: skip

    # Frames of another journal in a value: nothing in there counts, whatever happens to the frame around them.
    nest = Journal(0, SALT0)
    nest.mark()
    nest.batch(put(b"nest", sample_next(J0).bytes()))
    nest.batch(letter("b"))
    nest.mark(closed=True)
    places = [frame.start for frame in nest.frames]
    whole = {b"nest": J1.bytes(), b"b": b"2"}
    case("embedded", {JOURNAL0: nest.bytes()}, expect(whole, 2))
    found = dropped(JOURNAL0, places[1], places[2], 1)
    for name, offset in (("length", 0), ("payload", 20)):
        case(f"embedded-damaged-{name}", {JOURNAL0: flip(nest, places[1] + offset)},
             expect(numbered("b"), 2, found), point_in_time=expect({}, 0, found))  # fmt: skip

    malformed_frames()
    damage_at_the_end()


def malformed_frames():
    """Frames with a CRC that is right and something else that is not, each in front of a mark."""
    journal = Journal(0, SALT0)
    journal.mark()
    journal.batch(letter("a"))
    mark_payload = bytes(24) + SALT1.to_bytes(8, "little") + b"\1"
    early_mark = bytes(8) + (1 << 20).to_bytes(8, "little") + bytes(8) + SALT0.to_bytes(8, "little") + b"\1"
    findings = []
    for frames in (
        [(0xC1, b"")],  # a put without a key length
        [(0xC1, b"\0\0value")],  # … with an empty key
        [(0xC1, b"\x05\0key")],  # … with a key beyond the payload
        [(0xC1, b"\x01\x04" + b"k" * 1025)],  # … with a key too long
        [(0xC2, b"\1\0\5\0kb")],
        [(0xC2, b"\1\0\x01\x04k" + b"b" * 1025)],
        [(0xC3, b"")],
        [(0xC3, b"k" * 1025)],
        [(0xC4, b"\1\0\1\0kb+")],
        [(0xC5, b"+")],
        [(0xC8, mark_payload)],  # another journal's salt
        [(0xC8, early_mark)],  # durable beyond itself
        [(0xC8, mark_payload[:-1])],
        [(0x48, bytes(24) + SALT0.to_bytes(8, "little") + b"\0")],  # not the last of its batch
        [(0xC9, bytes(47))],
        [(0xD0, b"\1\0kv")],  # a snapshot's kind
        [(0xC6, b"a part alone")],
        [(0x46, b"a part"), (0x83, b"a")],  # a part in front of a remove
        [(0x81, b"\1\0kv")],  # goes on with no batch
        [(0x41, b"\1\0kv"), (0x01, b"\1\0lv")],  # no end
    ):
        start = journal.end
        for frame_type, payload in frames:
            journal.one(frame_type, payload)
        findings.append(dropped(JOURNAL0, start, journal.end, 0))
        journal.mark()
    journal.batch(letter("b"))
    journal.mark(closed=True)
    case("malformed", {JOURNAL0: journal.bytes()}, expect(numbered("ab"), 2, *findings),
         point_in_time=expect(numbered("a"), 1, findings[0]))  # fmt: skip


def damage_at_the_end():
    """Sealed journals and initial lengths: there is no torn tail."""
    at = [frame.start for frame in J0.frames]
    found = dropped(JOURNAL0, at[9], J0.end, 0)
    case("damage-sealed-close-mark", {JOURNAL0: flip(J0, at[9] + 9), JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9, found), point_in_time=expect(FIRST_STATE, 7, found, cut_off(JOURNAL1)))  # fmt: skip

    unclosed = sample(close=False)
    follower = sample_next(unclosed)
    found = dropped(JOURNAL0, at[8], unclosed.end, 1)
    case("damage-sealed-last-frame", {JOURNAL0: flip(unclosed, at[8] + 9), JOURNAL1: follower.bytes()},
         expect(numbered("cdeg"), 9, found),
         point_in_time=expect(numbered("bcde"), 6, found, cut_off(JOURNAL1)))  # fmt: skip

    # An open batch where the successor says that the journal ends.
    half = sample(close=False)
    start = half.end
    half.one(FIRST | 1, put(b"x", b"y")[0][1])
    follower = sample_next(half)
    found = dropped(JOURNAL0, start, half.end, 0)
    case("damage-sealed-unfinished-batch", {JOURNAL0: half.bytes(), JOURNAL1: follower.bytes()},
         expect(SECOND_STATE, 9, found), point_in_time=expect(FIRST_STATE, 7, found, cut_off(JOURNAL1)))  # fmt: skip

    # Carried batches are durable, with no mark to say so: frames 0 y, 1 z. 13 bytes count as one operation.
    carrier = J0.successor(SALT1, carried=[[letter("y")], [letter("z")]])
    y, z = (frame.start for frame in carrier.frames)
    page = {JOURNAL0: J0.bytes()}
    found = dropped(JOURNAL1, y, z, 1)
    case("damage-carried", {**page, JOURNAL1: flip(carrier, y + 9)},
         expect({**FIRST_STATE, **numbered("z")}, 9, found, not_closed(JOURNAL1)),
         point_in_time=expect(FIRST_STATE, 7, found))  # fmt: skip
    found = dropped(JOURNAL1, z, carrier.end, 1)
    garbage = flip(carrier, z + 9) + noise(40)
    case("damage-carried-then-torn", {**page, JOURNAL1: garbage},
         expect({**FIRST_STATE, **numbered("y")}, 9, found, torn(JOURNAL1, carrier.end, len(garbage))),
         point_in_time=expect({**FIRST_STATE, **numbered("y")}, 8, found))  # fmt: skip

    case("truncated-below-initial-length", {**page, JOURNAL1: carrier.bytes()[:z]},
         expect({**FIRST_STATE, **numbered("y")}, 8, missing(JOURNAL1, z, carrier.end)))  # fmt: skip
    # Ten bytes: a frame of nine may have stood there, and another have begun.
    found = dropped(JOURNAL1, z, z + 10, 2)
    case("truncated-in-carried-frame", {**page, JOURNAL1: carrier.bytes()[: z + 10]},
         expect({**FIRST_STATE, **numbered("y")}, 10, found, missing(JOURNAL1, z + 10, carrier.end)),
         point_in_time=expect({**FIRST_STATE, **numbered("y")}, 8, found))  # fmt: skip


# --- Losses --------------------------------------------------------------------------------------------------------


def losses():
    at = [frame.start for frame in J0.frames]
    loss = Loss(0, SALT0, at[7], at[8], 6, 1)  # e
    after = sample_next(J0, losses=[loss])
    known = recorded(loss)
    without_e = expect(numbered("cdfg"), 9, known)
    broken = flip(J0, at[7] + 9)
    case("recorded-loss", {JOURNAL0: broken, JOURNAL1: after.bytes()}, without_e, strict=without_e)
    case("recorded-loss-reads-well", {JOURNAL0: J0.bytes(), JOURNAL1: after.bytes()}, without_e, strict=without_e)
    # The whole journal behind the loss is not walked into it: a fault right in front stays in front. The mark behind says
    # that both together lost 1: how much of that the recorded one was counts as a guess.
    more = dropped(JOURNAL0, at[6], at[7], 1)
    case("recorded-loss-and-damage-in-front", {JOURNAL0: flip(broken, at[6] + 9), JOURNAL1: after.bytes()},
         expect(numbered("cdfg"), 9, known, more),
         point_in_time=expect(numbered("bcd"), 5, known, more, cut_off(JOURNAL1)))  # fmt: skip

    snapshot = Snapshot(after, SNAPSHOT_SALT, list(numbered("bcdf").items()), losses=[loss])
    page = {SNAPSHOT1: snapshot.bytes(), JOURNAL1: after.bytes()}
    case("recorded-loss-in-snapshot", page, without_e, strict=without_e)

    # The loss frame itself is damaged: the fault that it recorded is found again.
    lost_frame, mark = (frame.start for frame in after.frames[:2])
    again, unread = dropped(JOURNAL0, at[7], at[8], 1), dropped(JOURNAL1, lost_frame, mark, 0)
    case("damage-loss-frame", {JOURNAL0: broken, JOURNAL1: flip(after, lost_frame + 9)},
         expect(numbered("cdfg"), 9, again, unread),
         point_in_time=expect(numbered("bcd"), 5, again, cut_off(JOURNAL1)))  # fmt: skip
    found = bad_snapshot(SNAPSHOT1, 128, 128 + 57)
    damaged = flip(snapshot, 140)
    case("snapshot-damage-loss-frame", {**page, SNAPSHOT1: damaged, JOURNAL0: broken},
         expect(numbered("cdfg"), 9, known, found))  # fmt: skip
    case("snapshot-damage-loss-frame-nothing-kept", {**page, SNAPSHOT1: damaged}, DAMAGED)


# --- Damaged headers -----------------------------------------------------------------------------------------------


def headers():
    rotten0, rotten1 = flip(J0, 50), flip(J1, 50)
    newest, oldest = bad_header(JOURNAL1), bad_header(JOURNAL0)
    snapshot = {SNAPSHOT1: S1.bytes()}
    case("header-only-journal", {JOURNAL0: rotten0}, expect(FIRST_STATE, 7, oldest))
    case("header-magic", {JOURNAL0: flip(J0, 0)}, expect(FIRST_STATE, 7, oldest))
    case("header-zeroed", {JOURNAL0: overwrite(J0, 0, bytes(128))}, expect(FIRST_STATE, 7, oldest))
    case("header-newest", {JOURNAL0: J0.bytes(), JOURNAL1: rotten1}, expect(SECOND_STATE, 9, newest))
    case("header-newest-with-snapshot", {**snapshot, JOURNAL1: rotten1}, expect(SECOND_STATE, 9, newest))
    case("header-newest-all-kept", {**snapshot, JOURNAL0: J0.bytes(), JOURNAL1: rotten1},
         expect(SECOND_STATE, 9, newest))  # fmt: skip
    case("header-predecessor", {JOURNAL0: rotten0, JOURNAL1: J1.bytes()}, expect(SECOND_STATE, 9, oldest))
    case("header-predecessor-not-needed", {**snapshot, JOURNAL0: rotten0, JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9))  # fmt: skip
    case("header-middle", {JOURNAL0: J0.bytes(), JOURNAL1: rotten1, JOURNAL2: J2.bytes()},
         expect(THIRD_STATE, 10, newest))  # fmt: skip

    # With no mark: by the successor, if all frames verify; alone, unusable.
    bare = Journal(0, SALT0)
    bare.batch(letter("a"))
    bare.batch(letter("b"))
    after = sample_next(bare)
    case("header-by-successor", {JOURNAL0: flip(bare, 50), JOURNAL1: after.bytes()}, expect(numbered("ag"), 4, oldest))
    twice = flip(flip(bare, 50), 140)
    case("header-unusable", {JOURNAL0: twice, JOURNAL1: after.bytes()}, NO_BASE)
    case("header-without-mark", {JOURNAL0: flip(bare, 50)}, NO_BASE)
    case("header-magic-without-mark", {JOURNAL0: flip(bare, 0)}, FOREIGN)
    middle = J0.successor(SALT1)
    middle.batch(letter("g"))
    third = sample_third(middle)
    case("header-unusable-middle",
         {JOURNAL0: J0.bytes(), JOURNAL1: flip(flip(middle, 50), 140), JOURNAL2: third.bytes()},
         expect(FIRST_STATE, 7, newest, cut_off(JOURNAL1), cut_off(JOURNAL2)))  # fmt: skip

    # The end of the predecessor is unknown: its batches past E, carried by the next journal, do not count twice.
    crashed = sample(close=False)
    e = crashed.frames[6].start
    carrier = sample_next(crashed, end=e, base_lsn=5, carried=[[letter("e")], [letter("f")]])
    case("header-unknown-end", {JOURNAL0: crashed.bytes(), JOURNAL1: flip(carrier, 50)},
         expect(SECOND_STATE, 9, newest))  # fmt: skip
    case("header-unknown-end-torn", {JOURNAL0: crashed.bytes() + noise(30), JOURNAL1: flip(carrier, 50)},
         expect(SECOND_STATE, 9, newest))  # fmt: skip
    short = crashed.frames[3].start
    case("header-unknown-end-missing", {JOURNAL0: crashed.bytes()[:short], JOURNAL1: flip(carrier, 50)},
         expect(numbered("ab"), 2, newest, missing(JOURNAL0, short), cut_off(JOURNAL1)))  # fmt: skip
    # An unknown end, and damage in front of it: the next mark knows.
    found = dropped(JOURNAL0, J0.frames[2].start, J0.frames[3].start, 1)
    case("header-unknown-end-damage", {JOURNAL0: flip(J0, J0.frames[2].start + 9), JOURNAL1: rotten1},
         expect(SECOND_STATE, 9, newest, found),
         point_in_time=expect(numbered("a"), 1, newest, found, cut_off(JOURNAL1)))  # fmt: skip

    case("renamed", {JOURNAL3: J0.bytes()}, NO_BASE)
    copy = {JOURNAL0: J0.bytes(), JOURNAL1: J1.bytes(), JOURNAL2: J1.bytes()}
    case("copied-under-the-next-name", copy, expect(SECOND_STATE, 9, bad_header(JOURNAL2), cut_off(JOURNAL2)))


# --- Snapshots -----------------------------------------------------------------------------------------------------


def snapshots():
    def damaged(name, snapshot, data, start, end, alone=DAMAGED):
        kept = {JOURNAL0: J0.bytes(), SNAPSHOT1: data, JOURNAL1: J1.bytes()}
        case(f"snapshot-damage-{name}", kept, expect(SECOND_STATE, 9, bad_snapshot(SNAPSHOT1, start, end)))
        case(f"snapshot-damage-{name}-nothing-kept", {SNAPSHOT1: data, JOURNAL1: J1.bytes()}, alone)

    # Frames: 0 to 4 records, 5 order, 6 keys, 7 footer.
    places = S1.frames
    # What is kept is damaged too: it does not lead to what the snapshot held.
    case("snapshot-damage-kept-damage",
         {JOURNAL0: flip(J0, J0.frames[3].start + 9), SNAPSHOT1: flip(S1, places[1].start + 12), JOURNAL1: J1.bytes()},
         DAMAGED)  # fmt: skip
    damaged("header", S1, flip(S1, 60), 0, 128, NO_BASE)
    damaged("footer", S1, flip(S1, places[7].start + 12), places[7].start, S1.end, NO_BASE)
    damaged("truncated", S1, S1.bytes()[:-1], S1.end - 66, S1.end - 1, NO_BASE)
    damaged("record", S1, flip(S1, places[2].start + 9), places[2].start, places[2].end)
    damaged("record-length", S1, overwrite(S1, places[2].start, b"\xff\xff\xff\x7f"), places[2].start, places[5].start)
    damaged("order", S1, flip(S1, places[5].start + 20), places[5].start, places[5].end)
    damaged("order-length", S1, flip(S1, places[5].start + 2), places[5].start, places[5].end)
    # The records verify by themselves: the key table is done without.
    damaged("keys", S1, flip(S1, places[6].start + 600), places[6].start, places[6].end,
            expect(SECOND_STATE, 9, bad_snapshot(SNAPSHOT1, places[6].start, places[6].end)))  # fmt: skip
    block = DEFLATED1.frames[1]
    damaged("block", DEFLATED1, flip(DEFLATED1, block.start + 30), block.start, block.end)

    alone = expect(FIRST_STATE, 7, missing(JOURNAL1))
    case("snapshot-without-journal", {SNAPSHOT1: S1.bytes()}, alone)
    case("snapshot-without-journal-kept", {JOURNAL0: J0.bytes(), SNAPSHOT1: S1.bytes()}, alone)
    case("snapshot-without-journal-damaged", {SNAPSHOT1: flip(S1, S1.frames[0].start + 9)}, DAMAGED)
    # A snapshot that names another journal than the one of its number is not its base.
    other = Snapshot(J0.successor(SALT3), SNAPSHOT_SALT, [(b"wrong", b"")])
    case("snapshot-of-another-journal", {JOURNAL0: J0.bytes(), SNAPSHOT1: other.bytes(), JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9))  # fmt: skip
    case("foreign-snapshot", {JOURNAL0: J0.bytes(), SNAPSHOT1: b"a shopping list\n", JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9, bad_snapshot(SNAPSHOT1, 0, 128)))  # fmt: skip


# --- Files that are absent, short, foreign or newer ----------------------------------------------------------------


def files():
    f = J0.frames[8].start
    case("predecessor-short", {JOURNAL0: J0.bytes()[:f], JOURNAL1: J1.bytes()},
         expect(numbered("bcde"), 6, missing(JOURNAL0, f, J0.end), cut_off(JOURNAL1)))  # fmt: skip
    case("predecessor-short-not-needed", {JOURNAL0: J0.bytes()[:f], SNAPSHOT1: S1.bytes(), JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9))  # fmt: skip
    found = dropped(JOURNAL0, f, f + 10, 2)
    case("predecessor-short-in-a-frame", {JOURNAL0: J0.bytes()[: f + 10], JOURNAL1: J1.bytes()},
         expect(numbered("bcde"), 8, found, missing(JOURNAL0, f + 10, J0.end), cut_off(JOURNAL1)),
         point_in_time=expect(numbered("bcde"), 6, found, cut_off(JOURNAL1)))  # fmt: skip
    case("predecessor-absent", {JOURNAL1: J1.bytes()}, NO_BASE)
    case("predecessor-absent-in-the-middle", {JOURNAL0: J0.bytes(), JOURNAL2: J2.bytes()},
         expect(FIRST_STATE, 7, missing(JOURNAL1), cut_off(JOURNAL2)))  # fmt: skip
    other = closed_journal()
    stranger = Journal(0, SALT3)
    stranger.batch(letter("x"))
    stranger.mark(closed=True)
    case("predecessor-of-another-salt", {JOURNAL0: stranger.bytes(), JOURNAL1: J1.bytes()},
         expect(numbered("x"), 1, missing(JOURNAL0), cut_off(JOURNAL1)))  # fmt: skip

    unknown = Journal(0, SALT0)
    unknown.mark()
    unknown.batch(letter("a"))
    unknown.one(0xC0 | 10, b"from the future")
    unknown.mark(closed=True)
    case("newer-frame", {JOURNAL0: unknown.bytes()}, NEWER)
    case("newer-header", {JOURNAL0: closed_journal(version=2).bytes()}, NEWER)
    case("newer-header-on-the-chain", {JOURNAL0: other.bytes(), JOURNAL1: other.successor(SALT1, version=7).bytes()},
         NEWER)  # fmt: skip
    case("newer-header-not-needed",
         {JOURNAL0: closed_journal(version=2).bytes(), SNAPSHOT1: S1.bytes(), JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9))  # fmt: skip
    bad = bytearray(J1.bytes())
    bad[50] ^= 1
    # Whose salt it was, all journals' headers must say.
    case("newer-header-beside-a-damaged-one",
         {JOURNAL0: closed_journal(version=2).bytes(), SNAPSHOT1: S1.bytes(), JOURNAL1: bytes(bad)}, NEWER)  # fmt: skip
    case("newer-feature", {JOURNAL0: closed_journal(incompatible=0x100).bytes()}, NEWER)

    text = b"This is a shopping list: bread, butter, and a ream of paper.\n"
    case("foreign-only", {JOURNAL0: text}, FOREIGN)
    case("foreign-empty-file", {JOURNAL0: b""}, FOREIGN)
    case("foreign-highest", {JOURNAL0: J0.bytes(), JOURNAL1: text},
         expect(FIRST_STATE, 7, bad_header(JOURNAL1), cut_off(JOURNAL1)))  # fmt: skip
    case("foreign-predecessor", {JOURNAL0: text, JOURNAL1: J1.bytes()}, NO_BASE)
    case("directory-only", {JOURNAL0: None}, FOREIGN)
    case("directory-in-the-chain", {JOURNAL0: J0.bytes(), JOURNAL1: None, JOURNAL2: J2.bytes()}, FOREIGN)
    case("directory-a-stranger", {JOURNAL0: J0.bytes(), JOURNAL1: None}, expect(FIRST_STATE, 7))
    case("directory-beside-a-journal", {JOURNAL0: J0.bytes(), SNAPSHOT1: None, JOURNAL1: J1.bytes()}, FOREIGN)
    case("directory-beside-a-snapshot", {JOURNAL0: J0.bytes(), SNAPSHOT1: S1.bytes(), JOURNAL1: None}, FOREIGN)
    case("directory-higher", {JOURNAL0: J0.bytes(), SNAPSHOT1: None}, expect(FIRST_STATE, 7))
    case("quarantine-only", {"0000000000.0000000000000080.quarantine": b"bytes"}, NO_BASE)

    # The highest journal with a header says which page it is.
    of_other_page = closed_journal(page_id=OTHER_PAGE)
    case("other-page-predecessor", {JOURNAL0: of_other_page.bytes(), JOURNAL1: J1.bytes()}, NO_BASE)
    case("other-page-not-needed", {JOURNAL0: of_other_page.bytes(), SNAPSHOT1: S1.bytes(), JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9))  # fmt: skip
    case("other-page-under-another-number",
         {JOURNAL0: J0.bytes(), JOURNAL1: J1.bytes(), JOURNAL2: of_other_page.bytes()}, expect(SECOND_STATE, 9))  # fmt: skip
    snapshot = Snapshot(J1, SNAPSHOT_SALT, [(b"wrong", b"")], page_id=OTHER_PAGE)
    case("other-page-snapshot", {JOURNAL0: J0.bytes(), SNAPSHOT1: snapshot.bytes(), JOURNAL1: J1.bytes()},
         expect(SECOND_STATE, 9))  # fmt: skip
    highest = sample_next(J0, page_id=OTHER_PAGE)
    case("other-page-highest", {JOURNAL0: J0.bytes(), JOURNAL1: highest.bytes()}, NO_BASE)


# --- What verifies and cannot be true ------------------------------------------------------------------------------


def impossible():
    journal = Journal(0, SALT0)
    journal.batch(letter("a"))
    journal.mark(lsn=NONE)
    journal.batch(letter("b"))
    journal.mark(closed=True)
    found = dropped(JOURNAL0, journal.frames[1].start, journal.frames[1].end, 0)
    case("impossible-lsn-of-a-mark", {JOURNAL0: journal.bytes()}, expect(numbered("ab"), 2, found),
         point_in_time=expect(numbered("a"), 1, found))  # fmt: skip
    case("impossible-lsn-of-a-journal", {JOURNAL0: Journal(0, SALT0, base_lsn=NONE).bytes()}, NO_BASE)

    found = dropped(JOURNAL1, 128, 185, 0)
    a, b = (Loss(0, SALT0, J0.frames[i].start, J0.frames[i].end, i, 1) for i in (1, 2))
    for name, loss in (
        ("count", replace(a, count=NONE)), ("lsn", replace(a, lsn=NONE)), ("range", replace(a, start=a.end, end=a.start)),
    ):  # fmt: skip
        case(f"impossible-loss-{name}", {JOURNAL0: J0.bytes(), JOURNAL1: sample_next(J0, losses=[loss]).bytes()},
             expect(SECOND_STATE, 9, found), point_in_time=expect(FIRST_STATE, 7, found))  # fmt: skip
    # A loss that does not verify hides none behind it.
    case("loss-behind-a-damaged-one", {JOURNAL0: J0.bytes(), JOURNAL1: flip(sample_next(J0, losses=[a, b]), 140)},
         expect(numbered("cdefg"), 9, recorded(b), found),
         point_in_time=expect(numbered("cdef"), 7, recorded(b), found))  # fmt: skip
    # Skipped, a loss tells of nothing.
    middle = sample_next(J0, losses=[a])
    frame = middle.frames[0]
    skipping = Loss(1, SALT1, frame.start, frame.end, 8, 0)
    case("loss-in-a-skipped-range",
         {JOURNAL0: J0.bytes(), JOURNAL1: middle.bytes(), JOURNAL2: sample_third(middle, losses=[skipping]).bytes()},
         expect(THIRD_STATE, 10, recorded(skipping)), strict=expect(THIRD_STATE, 10, recorded(skipping)))  # fmt: skip
    # What is missing may have gone on nobody knows how far.
    endless = Loss(0, SALT0, J0.end, NONE, 8, 0)
    found = expect(SECOND_STATE, 9, recorded(endless))
    case("loss-without-an-end", {JOURNAL0: J0.bytes(), JOURNAL1: sample_next(J0, losses=[endless]).bytes()},
         found, strict=found)  # fmt: skip
    # As many as can be told of, and yet no sum overflows.
    most = 1 << 62
    huge = [replace(a, lsn=most, count=most), replace(b, lsn=most, count=most)]
    everything = Loss(0, SALT0, J0.frames[3].start, J0.end, most, most)
    following = sample_next(J0, losses=[*huge, everything])
    # The damage shares what is lost with those that tell too much: 7 operations, of which 42 bytes hold 4.
    found = dropped(JOURNAL0, 128, J0.frames[1].start, 4)
    case("impossible-sums", {JOURNAL0: flip(J0, 140), JOURNAL1: following.bytes()},
         expect(numbered("g"), 9, found, *map(recorded, [*huge, everything])),
         point_in_time=expect({}, 0, found, cut_off(JOURNAL1), *map(recorded, [*huge, everything])))  # fmt: skip

    # Whatever a journal with a successor ends in, it is no torn tail.
    f = J0.frames[8].start
    found = dropped(JOURNAL0, f, f + 5, 1)
    case("header-unknown-end-in-a-frame", {JOURNAL0: J0.bytes()[: f + 5], JOURNAL1: flip(J1, 50)},
         expect(numbered("cdeg"), 9, bad_header(JOURNAL1), found),
         point_in_time=expect(numbered("bcde"), 6, bad_header(JOURNAL1), found, cut_off(JOURNAL1)))  # fmt: skip
    # A journal that is not the first follows something, also where nothing says what.
    bare = Journal(0, SALT0)
    bare.batch(letter("a"))
    middle = sample_next(bare)
    case("header-follows-nothing",
         {JOURNAL0: flip(bare, 50), JOURNAL1: flip(middle, 50), JOURNAL2: sample_third(middle).bytes()},
         NO_BASE)  # fmt: skip
    # Another page's snapshot says nothing of a header.
    snapshot = Snapshot(J1, SNAPSHOT_SALT, [(b"wrong", b"")], page_id=OTHER_PAGE)
    case("header-beside-another-pages-snapshot",
         {JOURNAL0: J0.bytes(), SNAPSHOT1: snapshot.bytes(), JOURNAL1: flip(J1, 50)},
         expect(SECOND_STATE, 9, bad_header(JOURNAL1)))  # fmt: skip


for group in (healthy, ends, damaged_frames, losses, headers, snapshots, files, impossible):
    group()
