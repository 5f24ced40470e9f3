-- Changes of the content of ads, each with what makes the content before out of the one that it led to. So a new ad has no row, and the
-- present content is in `ads` alone. Numbers of an ad's changes have no gaps; the oldest ones are removed.
CREATE TABLE revisions (
    ad INTEGER NOT NULL REFERENCES ads (seq),
    n INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    replaced INTEGER NOT NULL, -- the revision before
    created INTEGER NOT NULL,
    checksum INTEGER NOT NULL, -- of the content that it led to
    request_id TEXT NOT NULL,
    asked_by TEXT, -- id of the token
    via TEXT,
    api_version TEXT, -- those before, if they changed
    category_id INTEGER,
    difference TEXT, -- JSON Merge Patch or JSON Patch; NULL when its retention time is over
    PRIMARY KEY (ad, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX revisions_created ON revisions (created) WHERE difference IS NOT NULL;

-- The checksum of the content with which an ad was created: whether a content without a change before it is that one.
ALTER TABLE ads ADD COLUMN first_checksum INTEGER;
