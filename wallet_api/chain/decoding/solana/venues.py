"""The venues of Solana: programs, and accounts."""

from wallet_api.chain.decoding.venues import MADE, Role, Venue

SOLANA = (
    # The programs check the escrow and the maker; anybody may add an account after them.
    *(
        Venue(Role.ESCROW, name, recorded, address, "", places)
        for name, address, places, recorded in (
            ("Jupiter limit orders 1", "jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu", (0, 2), "42zg3foo"),
            ("Jupiter limit orders 2", "j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X", (2, 1), "k2eGRDNq"),
            ("Jupiter DCA", "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M", (1, 2), "2GMpqA7d"),
        )
    ),
    Venue(Role.AGGREGATOR, "Jupiter 6", "4vqjm8PZ", "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"),
    Venue(Role.AGGREGATOR, "OKX", "3DZuPoKR", "6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma"),
    Venue(Role.AGGREGATOR, "OKX Labs", "3DafP7fg", "proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u"),
    Venue(Role.AGGREGATOR, "DFlow", "5TXPbAPG", "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH"),
    Venue(Role.AGGREGATOR, "Titan", "44pxrtZz", "T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT"),
    Venue(Role.LENDING, "Jupiter Lend, earn", "2Cxrz8NW", "jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9"),
    Venue(Role.LENDING, "Jupiter Lend, vaults", "2VvCxb43", "jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi"),
    Venue(Role.LENDING, "Jupiter Lend, liquidity", "2VvCxb43", "jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC"),
    Venue(Role.LENDING, "Kamino Lend", "568p1ATf", "KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD"),
    Venue(Role.LENDING, "marginfi", "3JwqTzSa", "MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA"),
    # https://github.com/solendprotocol/solana-program-library
    Venue(Role.LENDING, "Solend", MADE, "So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo"),
    Venue(Role.TIPS, "Jito", "3QvhUBMp", "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5"),
    Venue(Role.TIPS, "Jito", "QgAiv9WC", "HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe"),
    Venue(Role.TIPS, "Jito", "yorVNUA3", "Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY"),
    Venue(Role.TIPS, "Jito", "5S4EEa5s", "ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49"),
    Venue(Role.TIPS, "Jito", "63YHRcDE", "DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh"),
    Venue(Role.TIPS, "Jito", "4bJd4mkj", "ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt"),
    Venue(Role.TIPS, "Jito", "TyswJcg7", "DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL"),
    Venue(Role.TIPS, "Jito", "4udm6NA1", "3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT"),
    Venue(Role.TIPS, "bloXroute", "3tJczs8y", "HWEoBxYs7ssKuudEjzjmpfJVX7Dvi7wescFsVx2L5yoY"),
    Venue(Role.TIPS, "Temporal", "3XAnhzL2", "TEMPaMeCRFAS9EKF53Jd6KpHxgL47uWLcpFArU1Fanq"),
    Venue(Role.TIPS, "NextBlock", "2wkECde7", "NexTBLockJYZ7QD7p2byrUa6df8ndV2WSd8GkbWqfbb"),
)
