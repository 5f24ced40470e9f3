-- Id of the token with which a request was sent, in the last log entry of the request, which alone has the time of its acceptance.
ALTER TABLE log ADD COLUMN asked_by TEXT;
