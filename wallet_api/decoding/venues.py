"""The programs, contracts and events whose address or topic decides what a transaction is.

Each is that of a recorded transaction in tests/data, unless it is said otherwise.
"""

from wallet_api.decoding.evm import Log

SYSTEM = "11111111111111111111111111111111"

# Their escrow pays for an order that the wallet has placed before, and the wallet signs nothing.
# Recorded: 42zg3foo…, 4aBP4353…, 2GMpqA7d… in tests/data/solana.
SOLANA_ORDERS = frozenset(
    (
        "jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu",  # Jupiter limit orders, version 1
        "j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X",  # Jupiter limit orders, version 2
        "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M",  # Jupiter DCA
    )
)

# What is paid to them and comes from them is lent, not exchanged.
SOLANA_LENDING = frozenset(
    (
        # Jupiter Lend. Recorded: 2Cxrz8NW…, 2VvCxb43… in tests/data/solana.
        "jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9",  # earn
        "jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi",  # vaults
        "jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC",  # liquidity
        # By the code of several public clients; no recorded transaction.
        "KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD",  # https://github.com/Kamino-Finance/klend
        "MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA",  # https://github.com/mrgnlabs/marginfi-v2
        "So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo",  # https://github.com/solendprotocol/solana-program-library
    )
)

COW = "0x9008d19f58aabd9ed0d60971565aa8510560ab41"
"""The contract of CoW Protocol that fills orders."""
COW_TRADE = "0xa07a543ab8a018198e99ca0184c93fe9050a79400a0a723441f84de1d972cc17"
"""Trade(address,address,address,uint256,uint256,uint256,bytes): what an order exchanged."""

# They receive native coin for an order of a wallet, and pay for it later, in a transaction of somebody else.
ORDERS = frozenset(
    (
        "0x40a50cf069e992aa4536211b23f286ef88752187",  # CoW Protocol, orders in the native coin
        "0xba3cb449bd2b4adddbc894d8697f5170800eadec",  # the same, later version; not recorded
    )
)

# What is paid to them and comes from them is lent, not exchanged.
LENDING = frozenset(("0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb",))  # Morpho Blue

# Events of pools that may hold native coin, which moves without a log; the places of what they got and gave.
_POOLS = {
    # TokenExchange of Curve: with small and large indexes, and with fees.
    "0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140": (1, 3),
    "0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98": (1, 3),
    "0x143f1f8e861fbdeddd5b46e844b7d3ac7b86a122f36e8c463859ee6811b1f29c": (1, 3),
    # Swap of Balancer's vault.
    "0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b": (0, 1),
    # Swapped of Clipper.
    "0x4be05c8d54f5e056ab2cfa033e9f582057001268c3e28561bb999d35d2c8f2c8": (0, 1),
}
# Logs of routers with the amounts that their callers exchanged.
ROUTERS = frozenset(
    (
        "0x76af224a143865a50b41496e1a73622698692c565c1214bc862f18e22d829c5e",  # 1inch v2
        "0x1849bd6a030a1bca28b83437fd3de96f3d27a5d172fa7e9c78e7b61468928a39",  # Kyber, legacy
        "0xe00361d207b252a464323eb23d45d42583e391f2031acdd2e9fa36efddd43cb0",  # ParaSwap
        "0xe87568fe5934cb7524b96e16b225ee2e7e738ccbb706c7bee52ce07bf0360e69",  # Odos v1, several
    )
)

# Swap of managers of pools, with the changes of the caller's two amounts, and who holds the tokens.
_MANAGERS = {
    # Uniswap v4, and its forks: the emitter itself.
    "0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f": "",
    # PancakeSwap Infinity: its vault.
    "0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237": (
        "0x238a358808379702088667322f80ac48bad5e6c4"
    ),
}


def pool_swap(log: Log) -> tuple[str, int, int] | None:
    """Return who exchanged something according to a log, what it got, and what it gave; None for others."""
    topic = log.topics[0] if log.topics else ""
    words = log.words
    if topic in _POOLS and len(words) > max(_POOLS[topic]):
        got, gave = (words[place] for place in _POOLS[topic])
        return log.address.lower(), got, gave
    if topic in _MANAGERS and len(words) > 1:
        amounts = [word - (1 << 256) if word >> 255 else word for word in words[:2]]
        return _MANAGERS[topic] or log.address.lower(), -min(amounts), max(amounts)
    return None
