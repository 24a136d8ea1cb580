-- The newest event of recurring orders is one look at the index's end.
DROP INDEX "dca_event_timestamp_idx";
CREATE INDEX "dca_event_timestamp_idx" ON "dca_event" ("timestamp");
