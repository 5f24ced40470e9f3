-- Where an ad's images came from: JSON object by address, of sizes and of what their hosts said of their versions (ETag, Last-Modified).
-- None for images that were stored before.
ALTER TABLE ads ADD COLUMN image_sources TEXT;
