"""The contracts and events of EVM chains that decide what a transaction is.

Each is that of a recorded transaction, in tests/data/evm.
"""

COW_TRADE = "0xa07a543ab8a018198e99ca0184c93fe9050a79400a0a723441f84de1d972cc17"
"""Trade(address,address,address,uint256,uint256,uint256,bytes) of CoW Protocol: what an order exchanged."""

# They receive native coin for an order of a wallet, and pay for it later, in a transaction of somebody else.
ORDERS = frozenset(
    (
        "0x40a50cf069e992aa4536211b23f286ef88752187",  # CoW Protocol, orders in the native coin
        "0xba3cb449bd2b4adddbc894d8697f5170800eadec",  # the same, later version
    )
)
