-- Facts in order of time: what a window cuts of an hour is a few thousand of them, and the newest is found at the end of the index.
DROP INDEX "lp_event_timestamp_idx", "lp_swap_timestamp_idx";
CREATE INDEX "lp_event_timestamp_idx" ON "lp_event" ("timestamp");
CREATE INDEX "lp_swap_timestamp_idx" ON "lp_swap" ("timestamp");
