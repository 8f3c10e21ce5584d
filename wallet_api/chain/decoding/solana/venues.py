"""The venues of Solana: programs, and accounts."""

from wallet_api.chain.decoding.venues import MADE, Role, Venue

SOLANA = (
    # The programs check the escrow and the maker; anybody may add an account after them.
    *(
        Venue(Role.ESCROW, name, address, "", places, recorded)
        for name, address, places, recorded in (
            ("Jupiter limit orders 1", "jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu", (0, 2), "42zg3foo"),
            ("Jupiter limit orders 2", "j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X", (2, 1), "k2eGRDNq"),
            ("Jupiter DCA", "DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M", (1, 2), "2GMpqA7d"),
        )
    ),
    *(
        Venue(Role.AGGREGATOR, name, address, "", (), recorded)
        for name, address, recorded in (
            ("Jupiter 6", "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4", "4vqjm8PZ"),
            ("OKX", "6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma", "3DZuPoKR"),
            ("OKX Labs", "proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u", "3DafP7fg"),
            ("DFlow", "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH", "5TXPbAPG"),
            ("Titan", "T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT", "44pxrtZz"),
        )
    ),
    *(
        Venue(Role.LENDING, name, address, "", (), recorded)
        for name, address, recorded in (
            ("Jupiter Lend, earn", "jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9", "2Cxrz8NW"),
            ("Jupiter Lend, vaults", "jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi", "2VvCxb43"),
            ("Jupiter Lend, liquidity", "jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC", "2VvCxb43"),
            ("Kamino Lend", "KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD", "568p1ATf"),
            ("marginfi", "MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA", "3JwqTzSa"),
            # https://github.com/solendprotocol/solana-program-library
            ("Solend", "So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo", MADE),
        )
    ),
    *(
        Venue(Role.TIPS, name, address, "", (), recorded)
        for name, address, recorded in (
            ("Jito", "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5", "3QvhUBMp"),
            ("Jito", "HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe", "QgAiv9WC"),
            ("Jito", "Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY", "yorVNUA3"),
            ("Jito", "ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49", "5S4EEa5s"),
            ("Jito", "DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh", "63YHRcDE"),
            ("Jito", "ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt", "4bJd4mkj"),
            ("Jito", "DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL", "TyswJcg7"),
            ("Jito", "3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT", "4udm6NA1"),
            ("bloXroute", "HWEoBxYs7ssKuudEjzjmpfJVX7Dvi7wescFsVx2L5yoY", "3tJczs8y"),
            ("Temporal", "TEMPaMeCRFAS9EKF53Jd6KpHxgL47uWLcpFArU1Fanq", "3XAnhzL2"),
            ("NextBlock", "NexTBLockJYZ7QD7p2byrUa6df8ndV2WSd8GkbWqfbb", "2wkECde7"),
        )
    ),
)
