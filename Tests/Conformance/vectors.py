"""The test vectors of SPEC.md section 9: two small files, annotated."""

from writer import Journal, Snapshot, put

JOURNAL_SALT, NEXT_SALT, SNAPSHOT_SALT = 0x1F2E3D4C5B6A7980, 0xA1B2C3D4E5F60718, 0xC0FFEE1234567890

HEADER = [
    (8, "magic"), (2, "version 1"), (2, "header length 128"), (4, "compatible features"), (4, "incompatible features"),
    (4, "state: the record table"), (16, "page id 3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
]  # fmt: skip

JOURNAL = HEADER + [
    (8, "generation 0"), (8, "salt"), (8, "base LSN 0"), (8, "no predecessor"), (8, "its salt"), (8, "its end E"),
    (8, "initial length 128"), (8, "inode"), (8, "time 1,700,000,000 s"), (12, "reserved"),
    (4, "CRC-32 of bytes 0 to 123"),
    (4, "length 8"), (4, "CRC-32"), (1, "put, first and last"), (2, "key length 3"), (3, "`one`"), (3, "`uno`"),
    (4, "length 8"), (4, "CRC-32"), (1, "put, first"), (2, "key length 3"), (3, "`two`"), (3, "`dos`"),
    (4, "length 3"), (4, "CRC-32"), (1, "remove, last"), (3, "`one`"),
    (4, "length 33"), (4, "CRC-32"), (1, "mark, first and last"), (8, "LSN 3"), (8, "durable up to here"), (8, "time"),
    (8, "salt"), (1, "closed"),
]  # fmt: skip

SNAPSHOT = HEADER + [
    (8, "generation 1"), (8, "salt"), (8, "LSN 3"), (8, "salt of journal 1"), (8, "time"), (44, "reserved"),
    (4, "CRC-32 of bytes 0 to 123"),
    (4, "length 8"), (4, "CRC-32"), (1, "record, first and last"), (2, "key length 3"), (3, "`two`"), (3, "`dos`"),
    (4, "length 7"), (4, "CRC-32"), (1, "record, first and last"), (2, "key length 5"), (5, "`empty`"),
    (4, "length 24"), (4, "CRC-32"), (1, "order"), (8, "`two` at 128"), (4, "17 bytes"), (8, "`empty` at 145"),
    (4, "16 bytes"),
    (4, "length 1,024"), (4, "CRC-32"), (1, "keys, the only bucket"), (4, "tag of `two`"), (4, "tag of `empty`"),
    (504, "unused"), (4, "index of `two`"), (4, "index of `empty`"), (504, "empty"),
    (4, "length 56"), (4, "CRC-32"), (1, "footer"), (8, "LSN 3"), (8, "2 records"), (8, "records from 128"),
    (8, "order table from 161"), (8, "key table from 194"), (8, "1 bucket"),
    (4, "CRC-32 of all in front of the footer"), (4, "reserved"),
]  # fmt: skip


def journal():
    file = Journal(0, JOURNAL_SALT)
    file.batch(put(b"one", b"uno"))
    file.batch(put(b"two", b"dos"), [(3, b"one")])
    file.mark(closed=True)
    return file


def snapshot():
    successor = journal().successor(NEXT_SALT)
    return Snapshot(successor, SNAPSHOT_SALT, [(b"two", b"dos"), (b"empty", b"")])


def annotated(data, fields):
    """Lines of offset, hex, and what it is; a long run of one byte as `ff × 504`."""
    lines, at = [], 0
    for size, note in fields:
        piece = data[at : at + size]
        if size > 16 and len(set(piece)) == 1:
            rows = [f"{piece[:1].hex()} × {size}"]
        else:
            rows = [piece[row : row + 16].hex(" ") for row in range(0, size, 16)]
        for row, text in enumerate(rows):
            lines.append(f"{at + row * 16:04x}  {text:<47}  {note if row == 0 else ''}".rstrip())
        at += size
    assert at == len(data), (at, len(data))
    return "\n".join(lines)


def section():
    """Section 9 of SPEC.md, from its heading to the end of the file."""
    return f"""## 9. Test vectors

CRC-32 of the nine bytes `123456789` is `cbf43926`. SipHash-1-3 with k0 = `0x0706050403020100` and
k1 = `0x0f0e0d0c0b0a0908` is `0xabac0158050fc4dc` for no bytes and `0xc9f49bf37d57ca93` for the byte 00; with
k0 = k1 = 0 it is `0x06c40284f89d59c6` for `hello world, this is`.

A whole journal, `0000000000.journal`: a put, a batch of two frames, a mark that closes it. Its state is `two` = `dos`,
at LSN 3. `×` repeats a byte.

```
{annotated(journal().bytes(), JOURNAL)}
```

A whole snapshot, `0000000001.snapshot`, of two records: `two` = `dos` and `empty`, with no bytes.

```
{annotated(snapshot().bytes(), SNAPSHOT)}
```

`Tests/Conformance/golden/` holds pages, whole and damaged, each with the verdicts on it under the three policies
(the empty page is without its directory there: git keeps none).
"""
