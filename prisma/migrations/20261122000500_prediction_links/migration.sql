-- Outcomes are looked up by their token alone.
CREATE INDEX pm_outcome_token_id_idx ON pm_outcome (token_id);
