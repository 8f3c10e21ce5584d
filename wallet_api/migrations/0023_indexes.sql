-- No statement finds its rows by this index: the next tokens to read are those that were never read, or longest ago.
DROP INDEX token_faces_by_trial;
