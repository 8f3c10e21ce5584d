"""The schema of the index."""

from wallet_api.schemas.fields import Shape, String


class IndexSchema(Shape):
    """The data of GET /."""

    name = String("Name of this service.")
    documentation = String("The page for people.")
    openapi = String("The OpenAPI document.")
    health = String("What a load balancer requests.")
