-- When something was done last: metrics show the time of the last backup.
CREATE INDEX audit_act ON audit (act, seq);
