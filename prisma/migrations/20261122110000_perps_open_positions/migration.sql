-- Of an account's or a coin's positions most are closed: what is open is found without them.
CREATE INDEX perp_position_trader_coin_open_idx ON perp_position (trader, coin) WHERE size <> 0;
