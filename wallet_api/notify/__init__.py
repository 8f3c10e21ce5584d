"""Webhooks: messages about the changes of the feed, by the rules of a file, to targets over HTTPS.

`following` reads the feed, `page` reports what the rules say of it, by `matching` and by what was reported
before (`reports`), and both are saved in one transaction with the place in the feed. A thread of `delivery`
for each target sends what waits in the `queue`.
"""
