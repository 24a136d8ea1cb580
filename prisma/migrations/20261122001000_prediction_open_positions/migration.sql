-- Few positions are open, and who holds what now is asked of all markets at once. Its condition names no amount: those change with every fill,
-- and an index over them would have each fill write all indexes.
CREATE INDEX "pm_position_open_idx" ON "pm_position" ("condition_id") WHERE "status" = 'open';
