-- A recurring order as its events tell it. Amounts in smallest units of the input token.
CREATE TABLE "dca_order" (
  "order_address" TEXT NOT NULL,
  "owner" TEXT,
  "input_mint" TEXT NOT NULL,
  "output_mint" TEXT NOT NULL,
  "in_amount_per_cycle" DECIMAL NOT NULL,
  "cycle_frequency" BIGINT NOT NULL,
  "remaining" DECIMAL NOT NULL,
  "last_cycle_at" TIMESTAMPTZ(3) NOT NULL,
  "closed_at" TIMESTAMPTZ(3),
  "changed_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "dca_order_pkey" PRIMARY KEY ("order_address")
);
CREATE INDEX "dca_order_changed_at_idx" ON "dca_order" ("changed_at");
