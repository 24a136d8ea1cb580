-- A pool is written anew with every catalogue record of it, for its time changes. Room for it on its page lets PostgreSQL leave the indexes alone.
ALTER TABLE "lp_pool" SET (fillfactor = 50);
