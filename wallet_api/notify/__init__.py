"""Webhooks: messages about the changes of the feed, by the rules of a file, to targets over HTTPS.

`following` reads the feed, `matching` decides what a rule reports of a change, `store` keeps both in one
transaction with the place in the feed, and a thread of `delivery` for each target sends what waits.
"""
