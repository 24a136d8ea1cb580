-- Expensive answers, or what they are chosen from, rebuilt in the background; the last good copy stays until the next one is ready.
CREATE TABLE "snapshot" (
  "name" TEXT NOT NULL,
  "part" TEXT NOT NULL,
  "venue" TEXT NOT NULL,
  "as_of" TIMESTAMPTZ(3) NOT NULL,
  "built_at" TIMESTAMPTZ(3) NOT NULL,
  "body" JSONB NOT NULL,
  CONSTRAINT "snapshot_pkey" PRIMARY KEY ("name", "part")
);
