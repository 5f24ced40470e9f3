-- The quality score of an ad, 0 to 100, for filters of lists. Ads of before the upgrade get theirs in the background: it follows from
-- rules that SQL does not know.
ALTER TABLE ads ADD COLUMN quality_score SMALLINT;

-- The ads that have none yet; empty once all have one.
CREATE INDEX ads_without_score ON ads (seq) WHERE quality_score IS NULL;

-- Lists decide the condition on the score in the index that they walk, as every other.
DROP INDEX ads_created;
DROP INDEX ads_updated;
DROP INDEX ads_source_id;
CREATE INDEX ads_created ON ads (dealer_code, created, seq, updated, state, category_id, status, quality_score);
CREATE INDEX ads_updated ON ads (dealer_code, updated, seq, created, state, category_id, source_id, status, quality_score);
CREATE UNIQUE INDEX ads_source_id ON ads (dealer_code, source_id)
    INCLUDE (seq, created, updated, state, category_id, status, quality_score);
