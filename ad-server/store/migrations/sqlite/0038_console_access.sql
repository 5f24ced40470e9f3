-- Who may use the console: links that sign in once, and the sessions that began with them or with a token. Of secrets only hashes are kept.
CREATE TABLE console_access (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL, -- claim and name, such as `dealer_code north-cars`
    permissions TEXT NOT NULL, -- JSON
    label TEXT, -- for whom the link is, or that of the token
    token TEXT, -- the token that signed in
    root TEXT, -- the token whose holder made the link, or the link that made it; revoking it ends this one
    made_by TEXT, -- for people
    link_hash TEXT UNIQUE, -- NULL: it began with a token
    session_hash TEXT UNIQUE, -- NULL: the link has not been used
    trusted INTEGER NOT NULL,
    created INTEGER NOT NULL,
    signed_in INTEGER,
    last_used INTEGER,
    expires INTEGER NOT NULL, -- of the session, or of the link that has not been used
    ended INTEGER
) STRICT;

CREATE INDEX console_access_of_scope ON console_access (scope, created);
CREATE INDEX console_access_expired ON console_access (expires);
