-- Why an action failed, as a code. Entries from before the upgrade get the code that their action and the shape of their message allow.
ALTER TABLE log ADD COLUMN code TEXT;
UPDATE log SET code = CASE
    WHEN action = 'handle_media' THEN 'image_failed'
    WHEN message LIKE '{%' OR action = 'delete' THEN 'marketplace_refused'
    WHEN action = 'publish' THEN 'held_by_images'
    ELSE 'given_up'
END
WHERE state = 'error';
