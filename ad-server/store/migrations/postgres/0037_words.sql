-- The words by which ads are found (`q`), in lower case and without accents, each behind the code of the dealer and a slash.
CREATE TABLE words (
    ad BIGINT PRIMARY KEY,
    words TSVECTOR NOT NULL
);

-- What was added last is searched in full; it is merged into the index in small portions.
CREATE INDEX words_words ON words USING gin (words) WITH (gin_pending_list_limit = 64);

-- Ads whose words are not in the table yet, or have perhaps changed since. Their words follow from rules that SQL does not know.
CREATE TABLE words_due (
    n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ad BIGINT NOT NULL
) WITH (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 1000
);

INSERT INTO words_due (ad) SELECT seq FROM ads ORDER BY seq;

CREATE FUNCTION new_ads_have_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO words_due (ad) SELECT seq FROM added;
    RETURN NULL;
END
$$;

CREATE FUNCTION ad_has_other_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO words_due (ad) VALUES (new.seq);
    RETURN NULL;
END
$$;

CREATE TRIGGER ads_words_insert AFTER INSERT ON ads REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION new_ads_have_words();

CREATE TRIGGER ads_words_update AFTER UPDATE OF content, marketplace_ad_id, offer_id ON ads
FOR EACH ROW
WHEN (old.content <> new.content OR old.marketplace_ad_id IS DISTINCT FROM new.marketplace_ad_id OR old.offer_id IS DISTINCT FROM new.offer_id)
EXECUTE FUNCTION ad_has_other_words();
