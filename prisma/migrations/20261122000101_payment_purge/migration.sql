-- Finds what is to be purged: payments that moved no money. Rows of settled money are not in it.
CREATE INDEX "payment_unpaid_moved_at_idx" ON "payment"("moved_at") WHERE "state" IN ('RELEASED', 'EXPIRED', 'REJECTED_ONCHAIN');
