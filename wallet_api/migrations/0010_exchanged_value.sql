-- What the other side of an exchange moved in the native coin, without tips and a bot's fees: it makes the token's
-- price. NULL where it is not known; then the value does.
ALTER TABLE trades
    ADD COLUMN exchanged_value numeric;
