-- The dealer of a request, so that dealers take turns when requests are claimed.
ALTER TABLE requests ADD COLUMN dealer_code TEXT NOT NULL DEFAULT '';

UPDATE requests SET dealer_code = (SELECT dealer_code FROM ads WHERE ads.seq = requests.ad);

CREATE INDEX requests_dealer ON requests (dealer_code, claimable, seq) WHERE claimable IS NOT NULL;
