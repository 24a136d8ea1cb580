CREATE TABLE "source_cursor" (
  "source" TEXT NOT NULL,
  "venue" TEXT NOT NULL,
  "cursor" JSONB NOT NULL,
  "watermark" TIMESTAMPTZ(3),
  "last_event_at" TIMESTAMPTZ(3),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "source_cursor_pkey" PRIMARY KEY ("source")
);

-- Makes the monthly partitions of a fact table (named table_yyyymm) that cover [from_time, to_time].
CREATE FUNCTION ensure_month_partitions(parent text, from_time timestamptz, to_time timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  month_start timestamptz := date_trunc('month', from_time, 'UTC');
  child text;
BEGIN
  WHILE month_start <= to_time LOOP
    child := parent || '_' || to_char(month_start AT TIME ZONE 'UTC', 'YYYYMM');
    IF to_regclass(quote_ident(child)) IS NULL THEN
      -- Two loaders may want the same month at once. This lock lets readers and writers go on, and unlike an advisory lock it
      -- makes what the other one created visible to the second look.
      EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
      IF to_regclass(quote_ident(child)) IS NULL THEN
        -- Attaching takes the same mild lock; CREATE TABLE … PARTITION OF would stop all readers of the parent.
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child, month_start, (month_start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
      END IF;
    END IF;
    month_start := (month_start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
  END LOOP;
END
$$;
