-- For other statements to include: what is shown of the fees of sums (ledger/sums.sql).
round_half_up(fees, 9) AS fees,
fees_unknown_txn AS fees_unknown_txn
