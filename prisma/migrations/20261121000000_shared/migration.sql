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
      -- Two loaders may want the same month at once.
      PERFORM pg_advisory_xact_lock(hashtext(child));
      IF to_regclass(quote_ident(child)) IS NULL THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', child, parent, month_start, (month_start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
      END IF;
    END IF;
    month_start := (month_start AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
  END LOOP;
END
$$;
