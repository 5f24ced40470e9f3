-- Lists answer from indexes at any number of ads.

-- Each of the three orders, with seq to break its ties, has an index that a list walks without reading the ads
-- themselves. The other columns are there so that every filter is decided in the index, but for those that name a few
-- ads. `ads_updated` has all of them, so that a range of `updated` can be listed in any order.
DROP INDEX ads_created;
DROP INDEX ads_updated;
CREATE INDEX ads_created ON ads (dealer_code, created, seq, state, category_id);
CREATE INDEX ads_updated ON ads (dealer_code, updated, seq, created, state, category_id, source_id);
CREATE INDEX ads_source_id ON ads (dealer_code, source_id, seq, created, state, category_id);

-- A dealer's number is made with its first ad and never changes.
CREATE TABLE dealer_numbers (
    number INTEGER PRIMARY KEY,
    dealer_code TEXT NOT NULL UNIQUE
) STRICT;

INSERT INTO dealer_numbers (dealer_code) SELECT DISTINCT dealer_code FROM ads;

CREATE TRIGGER ads_insert AFTER INSERT ON ads
WHEN NOT EXISTS (SELECT 1 FROM dealer_numbers WHERE dealer_code = new.dealer_code)
BEGIN
    INSERT INTO dealer_numbers (dealer_code) VALUES (new.dealer_code);
END;

-- What is searched, in lower case. The place of an ad is its dealer's number × 2^40 + its seq: the texts of a dealer lie
-- side by side, and so do their entries in the index below.
CREATE TABLE texts (
    place INTEGER PRIMARY KEY,
    search TEXT NOT NULL, -- title, a line feed, body
    source_id TEXT NOT NULL
) STRICT;

INSERT INTO texts (place, search, source_id)
SELECT (number << 40) + seq, search, source_id_folded FROM ads JOIN dealer_numbers USING (dealer_code) ORDER BY 1;

ALTER TABLE ads DROP COLUMN search;
ALTER TABLE ads DROP COLUMN source_id_folded;

-- Three characters each, of both texts and of a mark of the dealer before them. It only proposes: whether a text really
-- contains a term is read in `texts`, so that the index need not know where in the text anything is.
CREATE VIRTUAL TABLE trigrams USING fts5 (
    text,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'trigram case_sensitive 1'
);

-- Texts that the index does not know yet, or knows as they were. Until it does, they are all proposed.
CREATE TABLE unindexed (
    place INTEGER PRIMARY KEY
) STRICT;

INSERT INTO unindexed (place) SELECT place FROM texts;

CREATE TRIGGER texts_insert AFTER INSERT ON texts
BEGIN
    INSERT INTO unindexed (place) VALUES (new.place);
END;

CREATE TRIGGER texts_update AFTER UPDATE ON texts
WHEN NOT EXISTS (SELECT 1 FROM unindexed WHERE place = new.place)
BEGIN
    INSERT INTO unindexed (place) VALUES (new.place);
END;
