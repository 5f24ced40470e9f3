-- Answers are removed in the order of their requests, whose ids begin with the time: the oldest first. Storing one takes less time
-- without the index of seq. The previous version reads the column, so it stays; its numbers are taken in blocks, which costs less.
ALTER TABLE kept_answers DROP CONSTRAINT kept_answers_pkey;
ALTER TABLE kept_answers ALTER COLUMN seq SET CACHE 1000;

-- Logical replication identifies rows by this index, now that there is no primary key.
ALTER TABLE kept_answers REPLICA IDENTITY USING INDEX kept_answers_holder_digest_key;
