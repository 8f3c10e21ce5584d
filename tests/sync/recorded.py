"""Recorded transactions of Solana's mainnet, without the accounts whose balances did not change."""

from dataclasses import dataclass
from typing import Any

from tests.stub.swaps import Row
from tests.stub.transactions import WRAPPED
from tests.sync.solana import USDC


@dataclass(frozen=True)
class Recorded:
    """A transaction, and its trades (mint, side, amount, value) of the wallet, which is the first account."""

    about: str
    seconds: int
    fee: int
    # Address, lamports before and after.
    accounts: list[tuple[str, int, int]]
    # Place of the account, mint, owner, decimals, units before and after; None: no such account.
    tokens: list[tuple[int, str, str, int, int | None, int | None]]
    trades: list[tuple[str, str, str, str]]

    @property
    def wallet(self) -> str:
        """The wallet."""
        return self.accounts[0][0]

    @property
    def told(self) -> Row:
        """The result of getTransaction."""
        return {
            "slot": 1,
            "blockTime": self.seconds,
            "version": 0,
            "meta": {
                "err": None,
                "fee": self.fee,
                "preBalances": [before for _, before, _ in self.accounts],
                "postBalances": [after for _, _, after in self.accounts],
                "preTokenBalances": [
                    _balance(token, token[4]) for token in self.tokens if token[4] is not None
                ],
                "postTokenBalances": [
                    _balance(token, token[5]) for token in self.tokens if token[5] is not None
                ],
            },
            "transaction": {
                "message": {
                    "accountKeys": [{"pubkey": address, "signer": False} for address, _, _ in self.accounts]
                }
            },
        }


def _balance(token: tuple[Any, ...], units: int | None) -> Row:
    place, mint, owner, decimals, *_ = token
    amount = {"amount": str(units), "decimals": decimals, "uiAmount": None, "uiAmountString": "unread"}
    return {"accountIndex": place, "mint": mint, "owner": owner, "uiTokenAmount": amount}


_RAYDIUM = "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1"
_LASER = "3p7eCgdQx1RiJUfr4t7Z8w6DpVbP7CMa9Z6Ff69tpump"
_FOUR = "4fSYiTPwwvU9Ym7CGXG4BNLKMcybg2GZXesYevS8pump"
_EIGHT = "8SgNwESovnbG1oNEaPVhg6CR9mTMSK7jPvcYRe3wpump"
_MOO = "5dNYcCZXEGfGgbdUdq7MMR7KLsNJLLLgL83wLH8Fpump"
_KMN = "KMnDBXcPXoz6oMJW5XG4tXdwSWpmWEP2RQM1Uujpump"
_ORE = "oreoN2tQbHXVaZsr3pf66A48miqcBXCDJozganhEJgz"
_W = "85VBFQZC9TZkfaptBWjvUw7YbZjy52A6mjtPGjstQAmQ"
_JUPITER = "7iWnBRRhBCiNXXPhqiGzvvBkKrvFSWqqmxRyu9VyYBxE"

RECORDED = (
    Recorded(
        "Jupiter over Raydium: 0.4 WRAPPED by a passing account of wrapped WRAPPED, into a new account",
        1733730308,
        14915,
        [
            ("3huskHPRJXT5pL6RW57HaA8pXRFojx6gfNVGL9cJ2vtB", 840881591, 438827396),
            ("E3ecuJE94vzTiUJxXGZeB1pqXdr1kR9cqK2EnVMLriK6", 0, 2039280),
            ("6h4fzv1o5GJsBVJ7dpyxRxJHw12WdEmnrWVQvqCS6bpm", 57918162932, 58318162932),
            ("CWXFLYoAXEywciSnhZtPMTVKpxJG9iUsQmfKekeWTMLV", 2039280, 2039280),
        ],
        [
            (1, _LASER, "3huskHPRJXT5pL6RW57HaA8pXRFojx6gfNVGL9cJ2vtB", 6, None, 3861519639304),
            (2, WRAPPED, _RAYDIUM, 9, 57916123652, 58316123652),
            (3, _LASER, _RAYDIUM, 6, 564373421680837, 560511902041533),
        ],
        [(_LASER, "buy", "3861519.639304", "0.4")],
    ),
    Recorded(
        "Jupiter over Raydium's concentrated pools: a part of an account is sold",
        1733731747,
        12573,
        [
            ("63EazyqF9nJN8SdGTMUaLrRKxS3XnmUiFuDp5KZ9wEV8", 55468636, 67765335),
            ("24h17ozNLJSYZ23PSGuKk56GvKQzFoGpctN5xTe1H2rU", 2039280, 2039280),
            ("8G6Mt4tbCHU8nfoWJnamLVXkEMFeia3fPnFD3EUwcmiH", 11637120, 11637120),
            ("42yWp3DXmLi9XzYHTMJu2UShMhFzxtocAAQCZ1JPZaBo", 8467751043, 8455441771),
            ("Hv2RSwoUFqZVxPhkCFRReQqtgSL66yrPaxk6nDmZZhyp", 2039280, 2039280),
        ],
        [
            (1, _EIGHT, "63EazyqF9nJN8SdGTMUaLrRKxS3XnmUiFuDp5KZ9wEV8", 6, 458750617, 358750617),
            (3, WRAPPED, "8G6Mt4tbCHU8nfoWJnamLVXkEMFeia3fPnFD3EUwcmiH", 9, 8465711763, 8453402491),
            (4, _EIGHT, "8G6Mt4tbCHU8nfoWJnamLVXkEMFeia3fPnFD3EUwcmiH", 6, 5446955946661, 5447055946661),
        ],
        [(_EIGHT, "sell", "100", "0.012309272")],
    ),
    Recorded(
        "pump.fun by a bot: the curve holds the coin itself; two fees and a tip are taken off",
        1743633930,
        5005000,
        [
            ("CzXW1cD5H9M6d8uFonRqQA5bvfLQtZdaZFJzqpie88HM", 5173365378, 6797807637),
            ("62qc2CNXwrYqQScmEdiZFFAnJR262PxWEuNQtxfafNgV", 18805362611532, 18805379289566),
            ("2UiFmAK89Fv3xMRMDN5sD2jFQSBSSWeVPN84BAsYwmLq", 3519850011, 1852046685),
            ("BtR4UBCkHhfE1ad7mfuEPYjRu6u7w1siTryPC1Qih7Fj", 2039280, 2039280),
            ("58uhRa6WkWqiGnCpzLoqvemcAq81bsFV3GxTSfncHfjy", 2039280, 2039280),
            ("7ks326H4LbMVaUC8nW5FpC5EoAf5eK5pf4Dsx4HDQLpq", 39570681104, 39575681104),
            ("AVUCZyuT35YSuj4RH7fwiyPu82Djn2Hfg7y2ND2XcnZH", 5497022310245, 5497038988278),
        ],
        [
            (3, _FOUR, "2UiFmAK89Fv3xMRMDN5sD2jFQSBSSWeVPN84BAsYwmLq", 6, 887361788908766, 937649186530851),
            (4, _FOUR, "CzXW1cD5H9M6d8uFonRqQA5bvfLQtZdaZFJzqpie88HM", 6, 50287397622085, 0),
        ],
        [(_FOUR, "sell", "50287397.622085", "1.629447259")],
    ),
    Recorded(
        "pump.fun: the maker of a token buys the first of it, and pays for its accounts",
        1727637145,
        525028,
        [
            ("6xo262KbDXepWbF3vPTrFXysr5vJwk3mozBXmXk3hmMx", 2750051377, 1713137549),
            (_MOO, 0, 1461600),
            ("ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt", 20652305, 24652305),
            ("CQrqvWERJtEjw2rCCQV6EqfM6V6jzTuKjhJjKNFmGB7r", 0, 1001231920),
            ("the curve's account of the token", 0, 2039280),
            ("the token's metadata", 0, 15616720),
            ("the wallet's account of the token", 0, 2039280),
            ("pump.fun's fees", 194526400491856, 194526410491856),
        ],
        [
            (4, _MOO, "CQrqvWERJtEjw2rCCQV6EqfM6V6jzTuKjhJjKNFmGB7r", 6, None, 965387096774194),
            (6, _MOO, "6xo262KbDXepWbF3vPTrFXysr5vJwk3mozBXmXk3hmMx", 6, None, 34612903225806),
        ],
        [(_MOO, "buy", "34612903.225806", "1.03434952")],
    ),
    Recorded(
        "an aggregator over Meteora: 10 SOL",
        1721447465,
        541958,
        [
            ("EfbbhahGNuhqEraRZXrwETfsaKxScngEttdQixWAW4WE", 207372668251, 197372126293),
            ("5weGupH6jwQyWbxAQJFoyfvfyKxbgx77RYvVBq5Tf3sM", 2039280, 2039280),
            ("6GuU95VtWZGbrUyq11XKVBGEfBbR49Hhj37o3oXxjQRS", 7182720, 7182720),
            ("EYf8gGX6bo359tCrYQUSFdACzDoMAAZEYfK8C1rFRgQn", 2039280, 2039280),
            ("27FxFAHPEy2tpGsmYgY32eaF1G1jZX4dzmLDy4PY9heC", 8048050652, 18048050652),
        ],
        [
            (1, _KMN, "EfbbhahGNuhqEraRZXrwETfsaKxScngEttdQixWAW4WE", 6, 0, 998528432013),
            (3, _KMN, "6GuU95VtWZGbrUyq11XKVBGEfBbR49Hhj37o3oXxjQRS", 6, 26138122544858, 25139594112845),
            (4, WRAPPED, "6GuU95VtWZGbrUyq11XKVBGEfBbR49Hhj37o3oXxjQRS", 9, 8046011372, 18046011372),
        ],
        [(_KMN, "buy", "998528.432013", "10")],
    ),
    Recorded(
        "Jupiter for 100 USDC, a fifth over one pool, the rest over two pools and an order book's two vaults",
        1713212838,
        8898,
        [
            ("AVYG9UHetNHT1FEDPLv9pN2sCCH4CLsjvkzGjVXBfEiS", 100560538, 98512360),
            ("yJz5cEDq566csg71JjN2xT5YsaNBnCRrtUYSX1sUp8g", 2039280, 2039280),
            ("3HovFuVAFKMzgyr3TCKi7YkNAR2zYJUmMHK2o1QhpTYL", 2039280, 2039280),
            ("B2XsZtiTQGiG8Tshr5gDGQSp5fE7nHXX64xtMsDAYQyo", 0, 2039280),
            ("4wpD3F3qNM7KjC1s8FtdriyQcxnVP5cdet9gy6VNuXad", 69434934113, 70015772294),
            ("ErT1f1pcdzGDBFBU1FD4FN3BtVTagvD4DMpTHGtH7e1i", 2039280, 2039280),
            ("AMhkw4DNjHhM7DojCwdrxwR946TRKzhZzLyF2hAriYkT", 620411574869, 619830736688),
            ("BtZUpLu8EZVyDseHBmh6KCMbaykoJznUKnYZaJ8RmqNe", 2039280, 2039280),
            ("698nQzUkGoGyFatzSCtYZpgdzA53sn4c1PwxToycaNmg", 2039280, 2039280),
            ("DCz89YGSysXPJp4GVyRkoGGwaazhwraj9fEvktTTQ7u9", 2039280, 2039280),
            ("CaBv1cSLFin4HajjXf49Gk8Utf3rHZdwvC9m9TyGVaZz", 2039280, 2039280),
            ("Eu9r7JuVUVHTgc5NMuosZ7AJpB1NJTPT7V1kfVWeQRyG", 2039280, 2039280),
        ],
        [
            (1, USDC, "AVYG9UHetNHT1FEDPLv9pN2sCCH4CLsjvkzGjVXBfEiS", 6, 24367084084, 24267084084),
            (2, _W, _JUPITER, 6, 19520, 24661),
            (3, _ORE, "AVYG9UHetNHT1FEDPLv9pN2sCCH4CLsjvkzGjVXBfEiS", 9, None, 944945170),
            (4, WRAPPED, "AvQvbFhPtJyaxbkqZPG1uaYwF3gg2JfKq6znUHoKyGE1", 9, 69432894833, 70013733014),
            (5, _ORE, "AvQvbFhPtJyaxbkqZPG1uaYwF3gg2JfKq6znUHoKyGE1", 9, 238807007832, 238050445100),
            (6, WRAPPED, "AMhkw4DNjHhM7DojCwdrxwR946TRKzhZzLyF2hAriYkT", 9, 620409535589, 619828697408),
            (7, _W, "BtZUpLu8EZVyDseHBmh6KCMbaykoJznUKnYZaJ8RmqNe", 6, 103197430458, 103324090458),
            (8, _ORE, "J4uBbeoWpZE8fH58PM1Fp9n9K6f1aThyeVCyRdJbaXqt", 9, 8794780697, 8606398259),
            (9, USDC, "J4uBbeoWpZE8fH58PM1Fp9n9K6f1aThyeVCyRdJbaXqt", 6, 109608762, 129608762),
            (10, USDC, "CNyMBhDe985yBzn6EqyT6BJE89iWgufi6wgBZFK9kM1D", 6, 4716312060, 4796312060),
            (11, _W, "CNyMBhDe985yBzn6EqyT6BJE89iWgufi6wgBZFK9kM1D", 6, 595461675102, 595335009961),
        ],
        # At 160 dollars a WRAPPED.
        [(USDC, "sell", "100", "0.625"), (_ORE, "buy", "0.94494517", "0.625")],
    ),
)
