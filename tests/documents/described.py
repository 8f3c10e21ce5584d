"""The OpenAPI document, and whether responses are as it describes them."""

from typing import Any

from jsonschema import Draft202012Validator


class Described:
    """The OpenAPI document of a service."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._components = _strict(document["components"])
        self._validators: dict[tuple[str, int], Draft202012Validator] = {}

    @property
    def keyed_paths(self) -> list[str]:
        """The paths of all operations that need a key."""
        return [path for path, item in self.document["paths"].items() if item["get"]["security"]]

    def parameters(self, path: str) -> set[str]:
        """Return the names of the arguments of an operation."""
        return {parameter["name"] for parameter in self._of_query(path)} - {"api_key"}

    def words(self, path: str, name: str) -> list[str]:
        """Return the words that an argument of an operation can be; none of another argument."""
        for parameter in self._of_query(path):
            if parameter["name"] == name and "$ref" in parameter["schema"]:
                words: list[str] = self._components["schemas"][
                    parameter["schema"]["$ref"].rpartition("/")[2]
                ]["enum"]
                return words
        return []

    def required(self, path: str) -> dict[str, Any]:
        """Return the examples of the arguments that an operation requires, some unless another is given."""
        return {
            parameter["name"]: parameter["example"]
            for parameter in self._of_query(path)
            if "example" in parameter
        }

    def responses(self, path: str) -> dict[str, Any]:
        """Return the descriptions of the responses of an operation by status, shared ones too."""
        shared = self.document["components"]["responses"]
        return {
            status: shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
            for status, response in self.document["paths"][path]["get"]["responses"].items()
        }

    def check(self, path: str, status: int, body: Any, headers: set[str]) -> None:
        """Assert that the status, the body and the headers of a response are described."""
        responses = self.responses(path)
        assert str(status) in responses, f"{path} responded {status}, which is not described"
        response = responses[str(status)]
        if (path, status) not in self._validators:
            # Its references are resolved once.
            schema = response["content"]["application/json"]["schema"] | {"components": self._components}
            checker = Draft202012Validator.FORMAT_CHECKER
            self._validators[path, status] = Draft202012Validator(schema, format_checker=checker)
        self._validators[path, status].validate(body)
        assert headers & set(self.document["components"]["headers"]) <= set(response["headers"]), path

    def _of_query(self, path: str) -> list[dict[str, Any]]:
        return [p for p in self.document["paths"][path]["get"]["parameters"] if p["in"] == "query"]


def _strict(node: Any) -> Any:
    """Return the same schema without undocumented members."""
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    strict = {name: _strict(part) for name, part in node.items()}
    return strict | {"additionalProperties": False} if isinstance(node.get("properties"), dict) else strict
