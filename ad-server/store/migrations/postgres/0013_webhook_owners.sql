-- Processes that send to webhooks. Each renews its one row, however many endpoints it owns. The endpoints of an owner whose time is over
-- can be claimed by others.
CREATE TABLE webhook_owners (
    owner UUID PRIMARY KEY,
    until BIGINT NOT NULL
);

-- Nobody: the owner of new endpoints.
INSERT INTO webhook_owners (owner, until) VALUES ('00000000-0000-0000-0000-000000000000', 0);

UPDATE webhooks SET owner = '00000000-0000-0000-0000-000000000000';

ALTER TABLE webhooks DROP COLUMN owned_until;
-- How often it has changed since its owner read it; NULL: not at all.
ALTER TABLE webhooks ADD COLUMN changes BIGINT;

CREATE INDEX webhooks_owner ON webhooks (owner, id);
CREATE INDEX webhooks_changed ON webhooks (owner) WHERE changes IS NOT NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted) WHERE deleted IS NOT NULL;
