-- What the shares held at a resolution had cost is kept: what was done since says nothing of it. Of positions moved since then the rebuild tells it exactly.
ALTER TABLE "pm_position" ADD COLUMN "settled_cost" DECIMAL NOT NULL DEFAULT 0;
UPDATE "pm_position" SET "settled_cost" = GREATEST(0, "payout_usdc" - "gain_resolution") WHERE "settled_at" IS NOT NULL AND "opened_at" <= "settled_at";
