-- Long texts are compressed by lz4, which takes a fraction of the time of PostgreSQL's own method and holds up nobody. What is
-- stored already stays as it is; a PostgreSQL that was built without lz4 goes on with its own.
DO $$
BEGIN
    ALTER TABLE ads ALTER COLUMN content SET COMPRESSION lz4;
    ALTER TABLE texts ALTER COLUMN search SET COMPRESSION lz4;
    ALTER TABLE listings ALTER COLUMN content SET COMPRESSION lz4;
    ALTER TABLE requests ALTER COLUMN plan SET COMPRESSION lz4;
EXCEPTION
    WHEN feature_not_supported THEN NULL;
END
$$;
