-- Copies of wallets/insiders name questions and outcomes now; one made before is not served.
DELETE FROM "snapshot" WHERE "name" = 'wallets/insiders';
