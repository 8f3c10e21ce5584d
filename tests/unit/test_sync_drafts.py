"""The trades of swaps: properties of any swaps in any order."""

from datetime import UTC, datetime
from decimal import Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st

from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import Leg, Swap, TrackedWallet
from wallet_api.chain.decoding.trades import Draft, draft_trades

WALLET = TrackedWallet(1, CHAINS["solana"], "wallet")
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
ONE = Decimal(1)

amounts = st.decimals(min_value="0.000001", max_value=10**40, allow_nan=False, allow_infinity=False, places=6)
mints = st.sampled_from((None, "A", "B", "C"))
legs = st.builds(Leg, mints, amounts)
swaps = st.builds(
    Swap,
    wallet=st.just(WALLET),
    tx_signature=st.sampled_from(("t1", "t2")),
    created_at=st.just(AT),
    pool=st.sampled_from(("p", "q")),
    bought=legs,
    sold=legs,
    usd=st.none() | amounts,
)


def drafted(swaps: list[Swap]) -> dict[tuple[str, str, bool], Draft]:
    return {(draft.tx_signature, draft.mint, draft.is_sell): draft for draft in draft_trades(swaps).drafts}


@given(st.data(), st.lists(swaps, max_size=8, unique=True))
def test_order_and_repetition_change_nothing(data: st.DataObject, swaps: list[Swap]) -> None:
    once = drafted(swaps)
    again = drafted(data.draw(st.permutations(swaps + swaps[: len(swaps) // 2])))
    assert again == once


@given(st.lists(swaps, max_size=8, unique=True))
def test_no_amount_is_lost_or_rounded(swaps: list[Swap]) -> None:
    done = draft_trades(swaps)
    left_out = sum(
        1 for swap in swaps if swap.bought.mint is not None and swap.sold.mint is not None and not swap.usd
    )
    assert len(done.left_out) <= left_out
    if done.left_out:
        return
    with localcontext(prec=200):
        for draft in done.drafts:
            sides = [
                leg.amount
                for swap in swaps
                if swap.tx_signature == draft.tx_signature
                for leg in [swap.sold if draft.is_sell else swap.bought]
                if leg.mint == draft.mint and not swap.bought.mint is swap.sold.mint is None
            ]
            assert draft.token_amount == sum(sides)


@given(st.lists(swaps, max_size=6, unique=True), swaps)
def test_a_further_row_takes_no_trade_away(swaps: list[Swap], late: Swap) -> None:
    assert drafted(swaps).keys() <= drafted([*swaps, late]).keys()


@given(amounts, amounts, amounts)
def test_both_sides_of_a_hop_are_worth_what_was_paid(paid: Decimal, middle: Decimal, got: Decimal) -> None:
    swaps = [
        Swap(WALLET, "t", AT, "q", Leg("B", got), Leg("A", middle)),
        Swap(WALLET, "t", AT, "p", Leg("A", middle), Leg(None, paid)),
    ]
    values = {key[1:]: draft.value(ONE) for key, draft in drafted(swaps).items()}
    assert values == {("A", False): paid, ("A", True): paid, ("B", False): paid}


def test_parts_are_added_and_hops_have_their_mean_price() -> None:
    swaps = [
        Swap(WALLET, "t", AT, "p", Leg("A", Decimal(2), "Apple"), Leg(None, ONE), ONE),
        Swap(WALLET, "t", AT, "q", Leg("A", ONE), Leg(None, Decimal(5)), ONE),
        Swap(WALLET, "t", AT, "r", Leg("B", Decimal(8)), Leg("A", ONE), ONE),
        Swap(WALLET, "t", AT, "s", Leg("C", ONE), Leg("B", Decimal(4)), Decimal(3)),
        Swap(TrackedWallet(2, CHAINS["solana"], "other"), "t", AT, "p", Leg("A", ONE), Leg(None, ONE)),
    ]
    found = {
        (draft.wallet.wallet_id, draft.mint, draft.is_sell): (
            *(draft.token_amount, draft.value(ONE)),
            *(draft.value_usd, draft.name),
        )
        for draft in draft_trades(swaps).drafts
    }
    assert found == {
        (1, "A", False): (3, 6, 2, "Apple"),
        (1, "A", True): (1, 2, 1, None),
        (1, "B", False): (8, 2, 1, None),
        (1, "B", True): (4, 1, 3, None),
        (1, "C", False): (1, 1, 3, None),
        (2, "A", False): (1, 1, None, None),
    }


def test_a_trade_with_the_dollars_of_only_a_part_has_no_dollar_value() -> None:
    swaps = [
        Swap(WALLET, "t", AT, "p", Leg("A", ONE), Leg(None, ONE), ONE),
        Swap(WALLET, "t", AT, "q", Leg("A", ONE), Leg(None, ONE)),
    ]
    assert drafted(swaps)["t", "A", False].value_usd is None


def test_dollars_become_coins_to_the_smallest_unit() -> None:
    swaps = [Swap(WALLET, "t", AT, "p", Leg("A", ONE), Leg("B", ONE), Decimal(1))]
    assert drafted(swaps)["t", "A", False].value(Decimal(3)) == Decimal("0.333333333")
