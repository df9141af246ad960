"""The walk over a journal: SPEC.md section 7."""

from dataclasses import dataclass

from frames import (
    FRAME_OVERHEAD, HEADER_SIZE, IN_JOURNAL, LOSS, Loss, MARK, MAX_PAYLOAD, Mark, count_operations, frame_at,
    is_in_place, parsed_loss, refuse_reserved,
)  # fmt: skip


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

    pointed = None
    if fault + FRAME_OVERHEAD <= limit:
        length = int.from_bytes(data[fault : fault + 4], "little")
        candidate = fault + FRAME_OVERHEAD + length
        if length <= MAX_PAYLOAD and candidate <= limit and frame(candidate):
            pointed = candidate
    end = limit if pointed is None else pointed
    for candidate in range(fault + 1, end - FRAME_OVERHEAD + 1):
        found = frame_at(data, salt, candidate, end, IN_JOURNAL)
        if found and (found.kind == MARK or found.end == limit or frame(found.end)):
            return candidate
    return pointed


def marks_in(events):
    return [event.mark for event in events if isinstance(event, Batch) and event.mark]


def losses_in(events, data, salt):
    """The losses that a walk takes in front of any other frame."""
    found = []
    for event in events:
        if isinstance(event, Batch):
            if event.frames[0].kind != LOSS:
                break
            found.append(parsed_loss(event.frames[0]))
        elif isinstance(event, Dropped):
            # An unfinished batch was begun here; without a frame that stands in place there was none.
            frame = frame_at(data, salt, event.start, event.end, IN_JOURNAL)
            if frame and is_in_place(frame, []):
                break
    return found
