-- Paid, and handed out to nobody: what its buyer is looked for by who pays for the same again. A delivery passes through no such state.
CREATE INDEX payment_unserved_idx ON payment (payer, request_hash) WHERE state = 'CONFIRMED';
