-- Paid by its buyer's own broadcast, and served to nobody: what its buyer is looked for by who pays for the same again.
CREATE INDEX payment_owed_idx ON payment (payer, request_hash) WHERE state = 'OWED';
