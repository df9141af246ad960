"""A reader for LogStore pages, written from SPEC.md alone; section numbers in these modules are those of SPEC.md.

It works on a page held in memory, a mapping from file name to bytes (None for a directory), so that tests can damage
pages without a disk. It opens read-only, and it reads everything: where the engine would verify a snapshot's frames
when it needs them, this reader verifies them all at once.
"""

import os
import re
from dataclasses import dataclass, field

from frames import (
    FRAME_OVERHEAD, HEADER_SIZE, JOURNAL_MAGIC, JournalHeader, MARK, Mark, PageError, SNAPSHOT_MAGIC, Table,
    frame_at, intact_fields, journal_header, plus,
)  # fmt: skip
from journal import Batch, Dropped, Skipped, TornTail, losses_in, marks_in, walk
from snapshot import Snapshot, SnapshotDamage

SALVAGE, STRICT, POINT_IN_TIME = POLICIES = ("salvage", "strict", "pointInTime")
BENIGN = {"torn-tail", "not-closed"}
NO_END = 2**64 - 1  # Of a loss: nobody knows how far what is missing had gone.
PAGE_FILE = re.compile(
    r"[0-9]{10}\.(journal|snapshot|journal\.tmp|snapshot\.tmp|snapshot\.tables\.tmp|[0-9a-f]{16}\.quarantine(\.tmp)?)"
)


# --- The chain (section 6) -----------------------------------------------------------------------------------------


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


class Headers(dict):
    """Journals' headers by number, None where one does not verify; read when asked for: one of a newer version is an
    error, and no reason to refuse a page that does not need it."""

    def __init__(self, journals):
        self.data = dict(journals)

    def __missing__(self, generation):
        self[generation] = journal_header(self.data[generation], generation)
        return self[generation]

    def all(self):
        return {n: self[n] for n in sorted(self.data)}


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
        self.headers = Headers(self.journals)
        self.page_id = self.find_page_id()
        for files_of_kind, magic in ((self.journals, JOURNAL_MAGIC), (self.snapshots, SNAPSHOT_MAGIC)):
            for n in [n for n, data in files_of_kind.items() if self.is_strange(data, magic)]:
                del files_of_kind[n]
        self.refused_snapshots = set()
        self.has_damage_inside = False
        self.findings = set()

    def find_page_id(self):
        for n in sorted(self.journals, reverse=True):
            if self.headers[n]:
                return self.headers[n].page_id
        for n in sorted(self.snapshots, reverse=True):
            try:
                return Snapshot.open(self.snapshots[n], n).header.page_id
            except SnapshotDamage:
                pass
        for files_of_kind, magic in ((self.journals, JOURNAL_MAGIC), (self.snapshots, SNAPSHOT_MAGIC)):
            for n in sorted(files_of_kind, reverse=True):
                if fields := intact_fields(files_of_kind[n], magic):
                    return fields[2]
        return None

    def is_strange(self, data, magic):
        try:
            fields = intact_fields(data, magic)
        except PageError:
            return False  # Of a newer version: whoever asks for it will hear.
        return bool(fields) and self.page_id is not None and fields[2] != self.page_id

    def report(self, kind, generation, file_kind, *where):
        self.findings.add(Finding(kind, name_of(generation, file_kind), *where))

    # Snapshots

    def snapshot(self, generation):
        """The snapshot of that number if it verifies; a finding if it is there and does not."""
        if generation not in self.snapshots or generation in self.refused_snapshots:
            return None
        try:
            snapshot = Snapshot.open(self.snapshots[generation], generation)
        except SnapshotDamage as damage:
            self.report("damaged-snapshot", generation, "snapshot", damage.start, damage.end)
            return None
        try:
            snapshot.losses()
            return snapshot
        except SnapshotDamage as damage:
            self.report("damaged-snapshot", generation, "snapshot", damage.start, damage.end)
            self.has_damage_inside = True
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
        foreign = self.foreign_salts(generation)
        successor = self.successor_of(generation)
        if snapshot:
            salt = snapshot.header.journal_salt
        else:
            salt = successor.predecessor_salt if successor else salt_of_a_mark(data, foreign)
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

    def foreign_salts(self, generation):
        """Salts that a mark in this file cannot be trusted with: those of other journals."""
        salts = {header.salt for n, header in self.headers.all().items() if header and n != generation}
        data = self.journals[generation]
        if intact_fields(data, JOURNAL_MAGIC) and int.from_bytes(data[40:48], "little") != generation:
            salts.add(int.from_bytes(data[48:56], "little"))
        return salts

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
            self.refuse_directory(name_of(header.generation, "snapshot"))
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
        named_like_a_page = {name for name in self.names if PAGE_FILE.fullmatch(name)}
        if named_like_a_page <= {"0000000000.journal.tmp"}:
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
        if self.has_damage_inside:
            return PageError("damaged", "a snapshot's losses, and no kept generation to read instead")
        return PageError("noBase", "nothing to start from")


def salt_of_a_mark(data, foreign):
    """The salt that the first mark in the file carries, found at any offset, unless it is another journal's."""
    for offset in range(len(data) - FRAME_OVERHEAD - Mark.FORM.size + 1):
        if data[offset] == Mark.FORM.size and data[offset + 8] == 0xC0 | MARK:
            salt = int.from_bytes(data[offset + FRAME_OVERHEAD + 24 : offset + FRAME_OVERHEAD + 32], "little")
            if salt not in foreign and frame_at(data, salt, offset, len(data), {MARK}):
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
    if successor.end > max(len(data), HEADER_SIZE):
        return None
    events = walk(data, salt, successor.end)
    if not all(isinstance(event, Batch) for event in events):
        return None
    operations = sum(event.operations for event in events)
    return successor.base_lsn - operations if successor.base_lsn >= operations else None


# --- Replay (section 7) --------------------------------------------------------------------------------------------


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
    opened = replay(page, based(page, n, chain), policy)
    if policy == STRICT and damage_in(opened.findings):
        raise PageError("damaged", "damage or a gap, under the strict policy")
    return opened


def damage_in(findings):
    return {f.kind for f in findings} - BENIGN - {"recorded-loss"}


@dataclass
class Based:
    """A chain, and what its base holds."""

    chain: Chain
    table: Table = field(default_factory=Table)
    losses: list = field(default_factory=list)


def based(page, n, chain):
    """The chain with its base read; with another base where that one is damaged inside."""
    base = chain.base
    if not base:
        return Based(chain)
    try:
        return Based(chain, Table(base.records()), base.losses())
    except SnapshotDamage as damage:
        page.refuse_snapshot(base.header.generation, damage)
        seen = set(page.findings)
        kept = kept_behind(page, n, base)
        if kept:
            return kept
        page.findings = seen
        if damage.records is None:
            raise PageError("damaged", f"a snapshot's {damage}, and no kept generation to read instead") from None
        return Based(chain, Table(damage.records), base.losses())


def kept_behind(page, n, snapshot):
    """The chain without a snapshot, if it leads, whole, to the state that the snapshot holds."""
    try:
        chain = page.chain_from(n) if n in page.journals else None
        kept = chain and based(page, n, chain)
    except PageError:
        return None
    if not kept:
        return None
    seen, page.findings = page.findings, set()
    links = links_of(page, kept.chain)
    before = [link for link in links if link.header.generation < snapshot.header.generation]
    own = [link for link in links if link.header.generation == snapshot.header.generation]
    opened = replay_links(page, before, own, Based(kept.chain, Table(kept.table.records()), kept.losses), SALVAGE)
    page.findings = seen
    is_whole = not damage_in(opened.findings)
    holds = (opened.lsn, len(opened.table.order)) == (snapshot.header.lsn, snapshot.footer.count)
    return kept if is_whole and holds else None


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
    links = []
    for header, successor in zip(chain.journals, [*chain.journals[1:], None]):
        data = page.journals[header.generation]
        if successor and successor.end is not None:
            limit = expected = successor.end
        else:
            limit, expected = len(data), HEADER_SIZE if successor else header.initial_length
        links.append(Link(header, successor, data, min(limit, len(data)), expected))
    return links


def replay(page, state, policy):
    return replay_links(page, links_of(page, state.chain), [], state, policy)


def replay_links(page, links, behind, state, policy):
    """Replays journals; what those behind them say of losses counts, too."""
    table, losses, walks = state.table, state.losses, []
    for link in reversed(links + behind):
        walks.insert(0, link.walk(losses))
        named = losses_in(walks[0], link.data, link.header.salt)
        losses = losses + [loss for loss in named if loss not in losses]
    for loss in losses:
        known = (None, None) if loss.end == NO_END else (loss.end, loss.count)
        page.report("recorded-loss", loss.generation, "journal", loss.start, *known)
    lsn = state.chain.base.header.lsn if state.chain.base else 0
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
    raised = 0  # by dropped and skipped ranges, since the last mark
    stop_at = link.successor.base_lsn if link.has_unknown_end else None
    for index, event in enumerate(events):
        if stop_at is not None and (lsn >= stop_at or isinstance(event, Batch) and lsn + event.operations > stop_at):
            break
        if isinstance(event, Batch):
            table.apply(event.frames)
            lsn = event.mark.lsn if event.mark else lsn + event.operations
            raised = 0 if event.mark else raised
        elif isinstance(event, Skipped):
            before, lsn = lsn, plus(lsn, event.loss.count)
            raised += lsn - before
        elif isinstance(event, Dropped):
            lost, rise = lost_operations(event, events[index + 1 :], lsn, raised, link)
            page.report("damaged-frame", generation, "journal", event.start, event.end, lost)
            if policy == POINT_IN_TIME:
                return lsn, False
            before, lsn = lsn, plus(lsn, min(lost, rise))
            raised += lsn - before
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


def lost_operations(dropped, events_behind, lsn, raised, link):
    """How many operations a dropped range held at most, and how far the LSN may rise for them."""
    size = dropped.end - dropped.start
    most = size // FRAME_OVERHEAD
    if link.is_short and dropped.end == link.limit:
        most = -(-size // FRAME_OVERHEAD)  # an operation may begin in less than a frame
    applied = skipped = 0
    for event in events_behind:
        if isinstance(event, Batch):
            if event.mark:
                later = event.mark.lsn
                break
            applied += event.operations
        elif isinstance(event, Skipped):
            skipped = plus(skipped, event.loss.count)
        else:
            return most, most
    else:
        if not link.successor or link.is_short:
            return most, most
        later = link.successor.base_lsn
    rise = max(0, later - applied - skipped - lsn)
    if not skipped and not raised:
        return rise, rise
    return min(most, max(0, later - applied - (lsn - raised))), rise


def ends_closed(events, length):
    """Whether the journal ends with a close mark; a torn tail is not asked whether it was closed."""
    if not events:
        return False
    last = events[-1]
    if isinstance(last, Batch):
        return last.end == length and last.mark and last.mark.closed
    return isinstance(last, TornTail)


# --- Pages on disk -------------------------------------------------------------------------------------------------


def load(path):
    """The page in a directory, as a mapping from names to bytes (None for a directory)."""
    try:
        return {entry.name: None if entry.is_dir() else read_file(entry.path) for entry in os.scandir(path)}
    except OSError as error:
        raise PageError("unavailable", error) from None


def read_file(path):
    with open(path, "rb") as file:
        return file.read()
