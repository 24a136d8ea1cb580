-- The newest fill of each outcome token: what a share is worth now is looked up by the token alone, not by the last of its hours.
CREATE TABLE "pm_token_last" (
  "condition_id" TEXT NOT NULL,
  "token_id" TEXT NOT NULL,
  "close" DECIMAL NOT NULL,
  "close_at" TIMESTAMPTZ(3) NOT NULL,
  "close_id" UUID NOT NULL,
  CONSTRAINT "pm_token_last_pkey" PRIMARY KEY ("condition_id", "token_id")
);
INSERT INTO "pm_token_last" ("condition_id", "token_id", "close", "close_at", "close_id")
SELECT DISTINCT ON ("condition_id", "token_id") "condition_id", "token_id", "close", "close_at", "close_id" FROM "pm_token_hour" ORDER BY "condition_id", "token_id", "hour" DESC;
