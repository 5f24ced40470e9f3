-- The different images of each dealer, while there is a quota of their bytes.
CREATE TABLE dealer_images (
    dealer_code TEXT NOT NULL,
    checksum TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (dealer_code, checksum)
) STRICT, WITHOUT ROWID;

-- Plates of categories with open fields were indexed as they were sent; they are found like any other. What such an ad shows is
-- normalised by its next write.
UPDATE ads SET registration_number = upper(replace(registration_number, ' ', ''))
WHERE registration_number IS NOT NULL
    AND category_id IN (1061, 1062, 1063, 1064, 1065, 1066, 1067, 1122, 1221, 1222, 1223, 1224, 1225, 1226);
