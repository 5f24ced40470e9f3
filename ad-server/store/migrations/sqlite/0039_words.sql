-- The words by which ads are found (`q`), in lower case and without accents, each behind a space. A search that many ads match reads them.
CREATE TABLE words (
    ad INTEGER PRIMARY KEY,
    words TEXT NOT NULL
) STRICT;

-- The same, each word behind the number of the dealer and an underscore.
CREATE VIRTUAL TABLE word_index USING fts5 (
    words,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = "ascii tokenchars '_'"
);

-- Ads whose words are not in these tables yet, or have perhaps changed since. Their words follow from rules that SQL does not know.
CREATE TABLE words_due (
    n INTEGER PRIMARY KEY,
    ad INTEGER NOT NULL
) STRICT;

INSERT INTO words_due (ad) SELECT seq FROM ads ORDER BY seq;

CREATE TRIGGER ads_words_insert AFTER INSERT ON ads
BEGIN
    INSERT INTO words_due (ad) VALUES (new.seq);
END;

CREATE TRIGGER ads_words_update AFTER UPDATE OF content, marketplace_ad_id, offer_id ON ads
WHEN old.content <> new.content OR old.marketplace_ad_id IS NOT new.marketplace_ad_id OR old.offer_id IS NOT new.offer_id
BEGIN
    INSERT INTO words_due (ad) VALUES (new.seq);
END;
