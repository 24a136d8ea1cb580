-- What the venue says an account is: a vault trades for others. Only known of accounts that were asked for.
CREATE TABLE "perp_role" (
  "trader" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  CONSTRAINT "perp_role_pkey" PRIMARY KEY ("trader")
);
