-- Facts by time, each found as it is: whether anything is newer than an instant is asked by every answer, and looking for it through the month that is going on
-- costs the more the longer the month has lasted. The block ranges that stood here told the planner too little to be chosen for that.
DROP INDEX "pm_trade_time_idx";
CREATE INDEX "pm_trade_time_idx" ON "pm_trade"("timestamp");
