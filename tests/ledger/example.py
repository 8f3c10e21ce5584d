"""A small ledger worked out by hand: its rows, and what becomes of each.

Wallet W trades six tokens. Q, C and T are quantity, cost and average acquisition time after the trade.

ALPHA, partial sells, still held
  20 d ago   buy  3    for 1    $100        Q 3     C 1      T -20 d
  10 d ago   sell 1    for 0.5  $60         cost 1/3, realized 1/2 - 1/3 = 1/6, held 10 d
                                            Q 2     C 2/3            $ cost 200/3
   5 d ago   buy  1    for 1    $120        Q 3     C 5/3    T (-20*2 - 5*1)/3 = -15 d    $ cost 560/3
  12 h ago   sell 1    for 2    $200        cost 5/9, realized 13/9, held 14.5 d; $ 200 - 560/9 = 1240/9
                                            Q 2     C 10/9   held: 2 of at most 3
  invested 2, sold 2.5, realized 1/6 + 13/9 = 29/18, cost 1/3 + 5/9 = 8/9: 100 * (29/18)/(8/9) = 181.25 %

BETA, sold out, entered again, sold but for a rest that is held
  40 d ago   buy  10   for 2                Q 10    C 2      T -40 d
  35 d ago   sell 10   for 1                cost 2, realized -1, held 5 d; Q 0
   8 d ago   buy  4    for 2    $300        Q 4     C 2      T -8 d
   2 d ago   sell 3.95 for 7.9  $1000       cost 1.975, realized 5.925, held 6 d; Q 0.05: 1.25 % of 4
  invested 4, sold 8.9, realized 4.925, cost 3.975: 4925/3975 = 197/159 = 123.8993... %

GAMMA, an airdrop sold, then a sell that is covered in part and comes out even
   3 d ago   sell 50   for 3    $400        not covered
  2.5 d ago  buy  2    for 0.4  $50         Q 2     C 0.4
  1.5 d ago  sell 5    for 1    $130        covers 2 of 5: 0.4 - 0.4 = 0, held 1 d; $ 52 - 50 = 2
  invested 0.4, sold 4, realized 0, cost 0.4: 0 %

DELTA, closed at break-even, its dollar value unknown
   6 d ago   buy  1    for 1.5
   6 d less an hour ago: sell 1 for 1.5     cost 1.5, realized 0, held 1 h

EPSILON, got for nothing and sold
   4 h ago   buy  7    for 0    $0
   2 h ago   sell 7    for 0.7  $70         cost 0, realized 0.7, held 2 h

ZETA, a plain profit of 50 %, its dollar value from the price of SOL
  25 d ago   buy  2    for 2                $150 half an hour before, $170 50 minutes after: 2 * 150
  24 d ago   sell 2    for 3                $160 59 minutes after: 3 * 160; realized 1, cost 2, held 1 d

Wallet V buys for 28, an hour ago, wallet U for 0.7, five hours ago; both without dollars, so they count at
the latest price, $160.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of

Row = dict[str, Any]
# Tells a time before now: at(days=2).
At = Callable[..., str]

U = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
V = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
W = "So11111111111111111111111111111111111111112"

WALLETS: list[Row] = [
    {"blockchain": "solana", "type": "kol", "wallet_address": U},
    {"blockchain": "solana", "type": "kol", "wallet_address": V, "name": "Vera"},
    {
        "blockchain": "solana",
        "type": "kol",
        "wallet_address": W,
        "name": "Wanda",
        "image_url": "https://images.example/wanda.png",
        "twitter": "https://x.com/wanda",
        "telegram": "https://t.me/wanda",
        "copytrade_link": "https://copy.example/wanda",
    },
]


def prices(at: At) -> list[Row]:
    """The prices of the example, one of them of a coin that is not its own."""
    return [
        {"currency": "SOL", "usd": "150", "priced_at": at(days=25, minutes=30)},
        {"currency": "SOL", "usd": "170", "priced_at": at(days=25, minutes=-50)},
        {"currency": "SOL", "usd": "160", "priced_at": at(days=24, minutes=-59)},
        {"currency": "ETH", "usd": "3000", "priced_at": at(minutes=1)},
    ]


def trades(at: At) -> list[Row]:
    """The trades of the example; the later ones first, to make it harder."""
    rows = [
        _row(W, "a1", "ALPHA", "buy", "3", "1", at(days=20), "100", token_name="Alpha"),
        _row(W, "a2", "ALPHA", "sell", "1", "0.5", at(days=10), "60"),
        _row(W, "a3", "ALPHA", "buy", "1", "1", at(days=5), "120"),
        _row(W, "a4", "ALPHA", "sell", "1", "2", at(hours=12), "200"),
        _row(W, "b1", "BETA", "buy", "10", "2", at(days=40)),
        _row(W, "b2", "BETA", "sell", "10", "1", at(days=35)),
        _row(W, "b3", "BETA", "buy", "4", "2", at(days=8), "300"),
        _row(W, "b4", "BETA", "sell", "3.95", "7.9", at(days=2), "1000"),
        _row(W, "c1", "GAMMA", "sell", "50", "3", at(days=3), "400"),
        _row(W, "c2", "GAMMA", "buy", "2", "0.4", at(days=2.5), "50"),
        _row(W, "c3", "GAMMA", "sell", "5", "1", at(days=1.5), "130"),
        _row(W, "d1", "DELTA", "buy", "1", "1.5", at(days=6)),
        _row(W, "d2", "DELTA", "sell", "1", "1.5", at(days=6, hours=-1)),
        _row(W, "e1", "EPSILON", "buy", "7", "0", at(hours=4), "0"),
        _row(W, "e2", "EPSILON", "sell", "7", "0.7", at(hours=2), "70"),
        _row(W, "z1", "ZETA", "buy", "2", "2", at(days=25)),
        _row(W, "z2", "ZETA", "sell", "2", "3", at(days=24)),
        _row(V, "v1", "ETA", "buy", "30", "28", at(hours=1)),
        _row(U, "u1", "ETA", "buy", "1", "0.7", at(hours=5)),
    ]
    return rows[::-1]


def fill(database_url: str) -> None:
    """Import all of it, as of now."""
    now = datetime.now(UTC).replace(microsecond=0)

    def at(**ago: float) -> str:
        return (now - timedelta(**ago)).isoformat()

    importer = Importer(database_url)
    importer.wallets(WALLETS)
    importer.prices(prices(at))
    importer.trades(trades(at))


def _row(
    wallet: str,
    signature: str,
    mint: str,
    side: str,
    amount: str,
    value: str,
    when: str,
    usd: str | None = None,
    **more: str,
) -> Row:
    return {
        "blockchain": "solana",
        "wallet_address": wallet,
        "tx_signature": signature,
        "mint": mint_of(mint),
        "transaction_type": side,
        "token_amount": amount,
        "value": value,
        "value_usd": usd,
        "created_at": when,
        **more,
    }
