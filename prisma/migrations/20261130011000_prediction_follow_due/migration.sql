-- Days that followers' prices are to be told of anew: noted in a row of its own each time, so that who reads fills waits for no run that tells them.
CREATE TABLE "pm_follow_due" (
  "id" BIGSERIAL NOT NULL,
  "day" DATE NOT NULL,
  CONSTRAINT "pm_follow_due_pkey" PRIMARY KEY ("id")
);
