"""The programs of Solana whose address decides what a transaction is.

Each address is that of a recorded transaction, unless it is said otherwise.
"""

SYSTEM = "11111111111111111111111111111111"

# Their escrow pays for an order that the wallet has placed before, and the wallet signs nothing.
# Recorded: 42zg3foo…, 4aBP4353…, 2GMpqA7d… in tests/data/solana.
ORDERS = frozenset(
    (
        "jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu",  # Jupiter limit orders, version 1
        "j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X",  # Jupiter limit orders, version 2
        "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M",  # Jupiter DCA
    )
)

# What is paid to them and comes from them is lent, not exchanged.
LENDING = frozenset(
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
