-- Recurring orders are looked up by who placed them and by their tokens.
CREATE INDEX dca_order_owner_idx ON dca_order (owner);
CREATE INDEX dca_order_input_mint_idx ON dca_order (input_mint);
CREATE INDEX dca_order_output_mint_idx ON dca_order (output_mint);
