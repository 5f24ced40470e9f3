-- The number of the process that has claimed a request.
ALTER TABLE requests ADD COLUMN holder INTEGER;
