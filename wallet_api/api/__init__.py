"""What callers see: views, the shapes of requests and responses, keys and limits, documents, MCP, a page."""
