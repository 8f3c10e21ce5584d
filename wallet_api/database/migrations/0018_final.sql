-- Trades of Solana are imported once they are final: nothing is decided afterwards.
DROP TABLE sync_unfinal;
