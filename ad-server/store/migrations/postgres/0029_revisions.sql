-- Changes of the content of ads, each with what makes the content before out of the one that it led to. So a new ad has no row, and the
-- present content is in `ads` alone. Numbers of an ad's changes have no gaps; the oldest ones are removed.
CREATE TABLE revisions (
    ad BIGINT NOT NULL,
    n BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    replaced BIGINT NOT NULL, -- the revision before
    created BIGINT NOT NULL,
    checksum BIGINT NOT NULL, -- of the content that it led to
    request_id UUID NOT NULL,
    asked_by TEXT, -- id of the token
    via TEXT,
    api_version TEXT, -- those before, if they changed
    category_id BIGINT,
    difference TEXT, -- JSON Merge Patch or JSON Patch; NULL when its retention time is over
    PRIMARY KEY (ad, n)
);

CREATE INDEX revisions_created ON revisions (created) WHERE difference IS NOT NULL;

-- The checksum of the content with which an ad was created: whether a content without a change before it is that one.
ALTER TABLE ads ADD COLUMN first_checksum BIGINT;
