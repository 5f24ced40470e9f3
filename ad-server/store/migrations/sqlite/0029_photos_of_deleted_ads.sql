-- Finds deleted ads with photos by the time of their deletion, to remove the photos after `deleted_photos_kept`.
CREATE INDEX ads_with_removable_photos ON ads (updated) WHERE state = 'deleted' AND image_refs <> '[]';
