-- Whether a call has linked a listing that showed no ad, so that the call made again is answered as it was.
ALTER TABLE listing_calls ADD COLUMN linked INTEGER NOT NULL DEFAULT 0;
