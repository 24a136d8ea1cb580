-- Who said a token's decimals: what its mint says counts before whatever a list says, in whatever order they come.
ALTER TABLE "lp_token" ADD COLUMN "decimals_by" SMALLINT NOT NULL DEFAULT 0;
