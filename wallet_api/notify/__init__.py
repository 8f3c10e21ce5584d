"""Webhooks: messages about the changes of the feed, by the rules of a file, to targets over HTTPS.

`feed` reads changes (`events`) and what was reported of them (`reports`), has `decisions` and `clusters`
decide what the rules report, and writes the messages, with the place in the feed, in one transaction. A
thread of `delivery` for each target sends what waits in the `queue`.
"""
