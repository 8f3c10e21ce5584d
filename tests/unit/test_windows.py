"""Windows cut into buckets: exactly the window, without overlaps, in the largest possible buckets."""

from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wallet_api.queries.windows import Span, columns, cover

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SIZES = (1, 60, 3600)

# However busy the machine is.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

moments = st.integers(0, 4 * 10**15).map(lambda count: EPOCH + count * MICROSECOND)
lengths = st.one_of(
    st.integers(0, 86_400).map(lambda seconds: timedelta(seconds=seconds)),
    st.integers(0, 10**13).map(lambda count: count * MICROSECOND),
)


@unhurried
@given(moments, lengths)
def test_spans_are_exactly_the_window_in_order_and_without_overlap(end: datetime, length: timedelta) -> None:
    start = end - length
    spans = cover(start, end, SIZES)
    edges = [span.starts_at for span in spans] + [span.ends_at for span in spans[-1:]]
    assert edges == ([start, *(span.ends_at for span in spans)] if length else [])
    assert not spans or edges[-1] == end


@unhurried
@given(moments, lengths)
def test_spans_of_buckets_begin_and_end_between_buckets(end: datetime, length: timedelta) -> None:
    for size, starts_at, ends_at in cover(end - length, end, SIZES):
        assert starts_at < ends_at
        if size:
            assert (starts_at - EPOCH) % timedelta(seconds=size) == timedelta(0)
            assert (ends_at - EPOCH) % timedelta(seconds=size) == timedelta(0)


@unhurried
@given(moments, lengths)
def test_no_span_is_of_smaller_buckets_than_it_could_be(end: datetime, length: timedelta) -> None:
    larger = {0: 1, 1: 60, 60: 3600}
    for size, starts_at, ends_at in cover(end - length, end, SIZES):
        if size in larger:
            step = timedelta(seconds=larger[size])
            first = EPOCH + -((EPOCH - starts_at) // step) * step
            assert first + step > ends_at


def test_a_day_to_the_second_takes_five_spans() -> None:
    now = datetime(2026, 1, 30, 12, 51, 16, tzinfo=UTC)
    assert cover(now - timedelta(days=1), now, SIZES) == [
        Span(1, datetime(2026, 1, 29, 12, 51, 16, tzinfo=UTC), datetime(2026, 1, 29, 12, 52, tzinfo=UTC)),
        Span(60, datetime(2026, 1, 29, 12, 52, tzinfo=UTC), datetime(2026, 1, 29, 13, 0, tzinfo=UTC)),
        Span(3600, datetime(2026, 1, 29, 13, 0, tzinfo=UTC), datetime(2026, 1, 30, 12, 0, tzinfo=UTC)),
        Span(60, datetime(2026, 1, 30, 12, 0, tzinfo=UTC), datetime(2026, 1, 30, 12, 51, tzinfo=UTC)),
        Span(1, datetime(2026, 1, 30, 12, 51, tzinfo=UTC), datetime(2026, 1, 30, 12, 51, 16, tzinfo=UTC)),
    ]


def test_edges_finer_than_all_buckets_are_left_to_single_trades() -> None:
    start = datetime(2026, 1, 30, 12, 0, 0, 250_000, tzinfo=UTC)
    end = start + timedelta(seconds=2)
    assert [span.bucket_seconds for span in cover(start, end, (1,))] == [0, 1, 0]
    assert cover(end, start, (1,)) == []


def test_columns_are_the_spans_as_arrays() -> None:
    start, end = EPOCH, EPOCH + timedelta(seconds=61)
    assert columns(cover(start, end, SIZES)) == {
        "sizes": "{60,1}",
        "starts": "{1970-01-01T00:00:00+00:00,1970-01-01T00:01:00+00:00}",
        "ends": "{1970-01-01T00:01:00+00:00,1970-01-01T00:01:01+00:00}",
    }
    assert columns([]) == {"sizes": "{}", "starts": "{}", "ends": "{}"}
