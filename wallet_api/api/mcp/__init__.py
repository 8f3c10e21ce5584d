"""The Model Context Protocol: requests of assistants read, and results cut to what a model can take in.

Facts of revision 2026-07-28, from https://modelcontextprotocol.io/specification/2026-07-28:
basic/index (the `_meta` of each request, the codes of errors), basic/transports/streamable-http (one message
in a POST, its headers, the statuses, `Origin`), server/discover, server/tools, server/utilities/caching.
Facts of the revisions before it, which begin with `initialize`: basic/lifecycle and basic/transports of
2025-03-26, 2025-06-18 and 2025-11-25. Of these, batches (2025-03-26) are not offered.
"""
