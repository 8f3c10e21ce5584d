"""The operator of the service, as the pages and the OpenAPI document show it."""

from typing import Any, NamedTuple

from flask import Flask
from markupsafe import Markup, escape

from wallet_api.settings import Settings

_EXTENSION = "wallet_api.operator"


class Operator(NamedTuple):
    """Who runs the service; what is not set is None. `contact` is an address of e-mail or a URL."""

    name: str | None = None
    contact: str | None = None
    terms_url: str | None = None

    @property
    def info(self) -> dict[str, Any]:
        """The members of the `info` of an OpenAPI document."""
        contact = {"name": self.name, self._kind: self.contact}
        contact = {name: value for name, value in contact.items() if value is not None}
        terms = {} if self.terms_url is None else {"termsOfService": self.terms_url}
        return terms | ({"contact": contact} if contact else {})

    @property
    def footer(self) -> str:
        """The end of a page; nothing without an operator."""
        link = Markup('<a href="{}" rel="noopener">{}</a>').format
        parts = [escape(f"Operated by {self.name}")] if self.name else []
        if self.contact is not None:
            parts.append(link(f"mailto:{self.contact}" if self._kind == "email" else self.contact, "Contact"))
        if self.terms_url is not None:
            parts.append(link(self.terms_url, "Terms"))
        if not parts:
            return ""
        return Markup('<footer class="words">{}</footer>\n').format(Markup(" · ").join(parts))

    @property
    def _kind(self) -> str:
        return "email" if "@" in (self.contact or "") and "/" not in (self.contact or "") else "url"


def init_app(app: Flask, settings: Settings) -> None:
    """Let the pages of `app` show the operator of these settings."""
    app.extensions[_EXTENSION] = Operator(
        settings.operator_name, settings.operator_contact, settings.operator_terms_url
    )


def operator_of(app: Flask) -> Operator:
    """Return the operator of an app; nobody where none is registered."""
    operator: Operator = app.extensions.get(_EXTENSION, Operator())
    return operator
