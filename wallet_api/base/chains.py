"""The supported chains: all that is a fact of one of them, and since when where it changes.

What a chain states itself is read from it; what is here is what cannot be read, or not before it is needed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from types import MappingProxyType
from typing import Literal, get_args

import base58

from wallet_api.base.coins import COINS, Coin, Currency

Blockchain = Literal["solana", "bnb", "base", "eth", "rh"]
WalletType = Literal["kol", "smart", "whale"]

WALLET_TYPES: tuple[WalletType, ...] = get_args(WalletType)
# What wallets of each type are.
TYPE_WORDS: Mapping[WalletType, str] = MappingProxyType(
    {"kol": "key opinion leaders", "smart": "smart money", "whale": "whales"}
)
# As a type of a group: all types of its chain.
ALL_TYPES = "all"

# What other tools call a chain, in lower case.
OTHER_NAMES: Mapping[str, Blockchain] = MappingProxyType({"ethereum": "eth", "bsc": "bnb", "binance": "bnb"})

EVM_PSEUDO_MINT = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
# Of EIP-7708, on a test network since October 2026: it logs each transfer of native coin as that of a token.
# https://eips.ethereum.org/EIPS/eip-7708
EVM_NATIVE_EMITTER = "0xfffffffffffffffffffffffffffffffffffffffe"

_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
# Bytes that each account of Solana pays for beside its own, and of the largest one that a call can create.
_ACCOUNT_HEAD = 128
_LARGEST_CREATED = 10_240
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]{32,44}")


@dataclass(frozen=True)
class Rules:
    """What holds of a chain since a day, until the next ones.

    There is a block each `block_seconds`, and it is final after about `final_seconds`. `milliseconds` is the
    field of a header with the time in milliseconds, where the chain has one.
    """

    since: date
    block_seconds: float
    final_seconds: float
    milliseconds: str | None = None


@dataclass(frozen=True)
class Chain:
    """A blockchain. `pseudo_mints` stand for the native coin itself where a provider requires an address.

    `stable_mints` are dollar coins: an amount of one is the dollar value of what it was exchanged for.
    `rent_rates` are the lamports that an account needs for each of its bytes and for 128 more, each since a
    time, the first one since ever.
    `rules` are what else changes, the oldest first.
    """

    name: Blockchain
    types: tuple[WalletType, ...]
    coin: Coin
    is_address: Callable[[str], bool]
    address_form: str
    case_sensitive: bool
    wrapped_mint: str
    pseudo_mints: tuple[str, ...]
    stable_mints: frozenset[str]
    alchemy_network: str
    dexscreener_id: str
    geckoterminal_network: str
    explorer_site: str
    rules: tuple[Rules, ...]
    evm_chain_id: int | None = None
    rent_rates: tuple[tuple[datetime, int], ...] = ()
    wallet_page: str = "address"

    def __post_init__(self) -> None:
        """Raise ValueError for a type of wallets without words."""
        if unknown := [type for type in self.types if type not in TYPE_WORDS]:
            raise ValueError(f"{self.name}: TYPE_WORDS lacks {', '.join(unknown)}")

    def rent(self, size: int, at: datetime) -> int:
        """Return what an account of so many bytes needs that is created at a time, on Solana."""
        rate = next(rate for since, rate in reversed(self.rent_rates) if since <= at)
        return (_ACCOUNT_HEAD + size) * rate

    @property
    def largest_rent(self) -> int:
        """Return the most that the largest account needs that a program can create by itself."""
        return (_ACCOUNT_HEAD + _LARGEST_CREATED) * max(rate for _, rate in self.rent_rates)

    @property
    def is_evm(self) -> bool:
        """Return whether it is an EVM chain: the others are of Solana's kind."""
        return self.evm_chain_id is not None

    @property
    def currency(self) -> Currency:
        """Return the code of the native coin."""
        return self.coin.currency

    @property
    def native_decimals(self) -> int:
        """Return the decimals of the native coin."""
        return self.coin.decimals

    @property
    def moralis_chain(self) -> str:
        """Return Moralis' name for an EVM chain: its chain id in hexadecimal."""
        assert self.evm_chain_id is not None
        return hex(self.evm_chain_id)

    def rules_on(self, day: date) -> Rules:
        """Return what holds on a day."""
        return next((rules for rules in reversed(self.rules) if rules.since <= day), self.rules[0])

    @property
    def milliseconds(self) -> str | None:
        """Return the field of a header with the time in milliseconds, if the chain has one now."""
        return self.rules[-1].milliseconds

    @property
    def explorer(self) -> Mapping[str, str]:
        """Return the beginnings of the addresses of pages about what is on it, to which its id is added.

        `chart` is of a site that plots the price of a token.
        """
        pages = {"wallet": self.wallet_page, "token": "token", "transaction": "tx", "block": "block"}
        chart = {"chart": f"https://dexscreener.com/{self.dexscreener_id}/"}
        return {kind: f"https://{self.explorer_site}/{page}/" for kind, page in pages.items()} | chart

    def canonical(self, text: str) -> str:
        """Return the stored form of an address or mint: lower case on EVM chains, unchanged on Solana."""
        return text if self.case_sensitive else text.lower()

    def is_native(self, mint: str) -> bool:
        """Return whether `mint`, in stored form, is the native coin or its wrapped form."""
        return mint == self.wrapped_mint or mint in self.pseudo_mints


def one_type(type: str | None) -> str | None:
    """Return the type of the wallets that a request is about; None for all."""
    return None if type == ALL_TYPES else type


def groups_of(chains: Iterable[Chain]) -> tuple[tuple[Blockchain, str], ...]:
    """Return all pairs of a chain and a type. Raises ValueError for a type that no chain has."""
    groups = tuple((chain.name, type) for chain in chains for type in chain.types)
    if unused := [each for each in WALLET_TYPES if each not in {type for _, type in groups}]:
        raise ValueError(f"no chain has wallets of the type {', '.join(unused)}")
    return groups


def stored_form(text: str, chains: Iterable[Chain]) -> str:
    """Return an address or mint as that of these chains whose address it is stores it; else unchanged."""
    return next((chain.canonical(text) for chain in chains if chain.is_address(text)), text)


def _is_solana_address(text: str) -> bool:
    return _BASE58.fullmatch(text) is not None and len(base58.b58decode(text)) == 32


def _is_evm_address(text: str) -> bool:
    return _EVM_ADDRESS.fullmatch(text) is not None


def _mints(*mints: str) -> frozenset[str]:
    return frozenset(mints)


_evm = partial(
    Chain,
    is_address=_is_evm_address,
    address_form="0x followed by 40 hexadecimal digits",
    case_sensitive=False,
    pseudo_mints=(EVM_PSEUDO_MINT, "0x0000000000000000000000000000000000000000"),
)
_CHAINS = (
    Chain(
        name="solana",
        types=WALLET_TYPES,
        coin=COINS["SOL"],
        is_address=_is_solana_address,
        address_form="base58 of 32 bytes",
        case_sensitive=True,
        wrapped_mint="So11111111111111111111111111111111111111112",
        pseudo_mints=("So11111111111111111111111111111111111111111", "11111111111111111111111111111111"),
        stable_mints=_mints(
            "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",  # USDC
            "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",  # USDT
            "2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH",  # USDG
            "USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB",  # USD1
            "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo",  # PYUSD
        ),
        alchemy_network="solana-mainnet",
        dexscreener_id="solana",
        geckoterminal_network="solana",
        explorer_site="solscan.io",
        wallet_page="account",
        # A token account needs 2,039,280 lamports, since SIMD-0437 less in steps, down to 203,928:
        # https://docs.chainstack.com/docs/solana-rent-reduction-reclaim-excess-rent
        rent_rates=((datetime.min.replace(tzinfo=UTC), 6_960), (datetime(2026, 9, 3, tzinfo=UTC), 5_080)),
        # SIMD-0525, in two steps until the end of August.
        rules=(Rules(date(2020, 3, 16), 0.4, 13.0), Rules(date(2026, 8, 31), 0.3, 13.0)),
    ),
    _evm(
        name="bnb",
        types=("kol", "smart"),
        coin=COINS["BNB"],
        wrapped_mint="0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c",
        stable_mints=_mints(
            "0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d",  # USDC
            "0x55d398326f99059ff775485246999027b3197955",  # USDT
            "0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d",  # USD1
            "0xc5f0f7b66764f6ec8c8dff7ba683102295e16409",  # FDUSD
        ),
        alchemy_network="bnb-mainnet",
        dexscreener_id="bsc",
        geckoterminal_network="bsc",
        explorer_site="bscscan.com",
        rules=(
            Rules(date(2020, 8, 29), 3.0, 45.0),
            # BEP-520 and BEP-524, and https://docs.bnbchain.org/announce/fermi-bsc.
            Rules(date(2025, 4, 29), 1.5, 8.0, "milliTimestamp"),
            Rules(date(2025, 6, 30), 0.75, 4.0, "milliTimestamp"),
            Rules(date(2026, 1, 14), 0.45, 3.0, "milliTimestamp"),
        ),
        evm_chain_id=56,
    ),
    _evm(
        name="base",
        types=("kol", "smart"),
        coin=COINS["ETH"],
        wrapped_mint="0x4200000000000000000000000000000000000006",
        stable_mints=_mints(
            "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",  # USDC
            "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2",  # USDT
            "0x50c5725949a6f0c72e6c4a641f24049a917db0cb",  # DAI
        ),
        alchemy_network="base-mainnet",
        dexscreener_id="base",
        geckoterminal_network="base",
        explorer_site="basescan.org",
        rules=(
            Rules(date(2023, 6, 15), 2.0, 1200.0),
            # https://docs.base.org/base-chain/specs/upgrades/denim/overview
            Rules(date(2026, 11, 5), 0.2, 1200.0, "timestampMs"),
        ),
        evm_chain_id=8453,
    ),
    _evm(
        name="eth",
        types=("kol",),
        coin=COINS["ETH"],
        wrapped_mint="0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
        stable_mints=_mints(
            "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",  # USDC
            "0xdac17f958d2ee523a2206206994597c13d831ec7",  # USDT
            "0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d",  # USD1
            "0x6b175474e89094c44da98b954eedeac495271d0f",  # DAI
        ),
        alchemy_network="eth-mainnet",
        dexscreener_id="ethereum",
        geckoterminal_network="eth",
        explorer_site="etherscan.io",
        rules=(Rules(date(2015, 7, 30), 14.0, 900.0), Rules(date(2022, 9, 15), 12.0, 900.0)),
        evm_chain_id=1,
    ),
    # Robinhood Chain, an Arbitrum chain: https://docs.robinhood.com/chain
    _evm(
        name="rh",
        types=("kol", "smart"),
        coin=COINS["ETH"],
        wrapped_mint="0x0bd7d308f8e1639fab988df18a8011f41eacad73",
        stable_mints=_mints("0x5fc5360d0400a0fd4f2af552add042d716f1d168"),  # USDG
        alchemy_network="robinhood-mainnet",
        dexscreener_id="robinhood",
        geckoterminal_network="robinhood",
        explorer_site="robinhoodchain.blockscout.com",
        rules=(Rules(date(2026, 7, 1), 0.1, 1200.0),),
        evm_chain_id=4663,
    ),
)
CHAINS: Mapping[str, Chain] = MappingProxyType({chain.name: chain for chain in _CHAINS})
GROUPS = groups_of(_CHAINS)
