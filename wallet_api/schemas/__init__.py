"""Response and argument shapes: marshmallow schemas, no database, no request, no clock."""
