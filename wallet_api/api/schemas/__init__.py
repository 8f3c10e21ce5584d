"""marshmallow schemas of arguments and responses, without database, request or clock."""
