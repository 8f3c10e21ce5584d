-- Trades whose files state dollars alone: their value is computed from these, with the native price at their time.

-- Whether value was computed from value_usd. All rows get FALSE without being rewritten.
ALTER TABLE trades ADD COLUMN value_derived boolean NOT NULL DEFAULT FALSE;
