-- What a request has changed about the content of its ad (JSON), in the first log entry of the request.
ALTER TABLE log ADD COLUMN content_changes TEXT;
