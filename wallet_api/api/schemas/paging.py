"""The pages of a list: the arguments that request one, and where it stands among all rows."""

from wallet_api.api.schemas.argument_fields import FreeText, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, GroupArguments
from wallet_api.api.schemas.fields import Boolean, Integer, Rows, String
from wallet_api.api.schemas.shapes import Shape


class CursorMixin:
    """`cursor`: where the page begins."""

    cursor = FreeText("`pagination.next_cursor` of the page before.")


class PagedArguments(CursorMixin, FormatMixin, GroupArguments):
    """A group of wallets, and the page to return."""

    limit = WholeNumber(1, "Rows per page; all by default.")


class PaginationSchema(Shape):
    """Where the page stands among all rows."""

    limit = Integer("Rows per page; the total if there is one page.")
    next_cursor = String(
        "`cursor` of the next page; null on the last one, never with `after`.", nullable=True
    )
    has_more = Boolean("Whether there is a next page.")
    total = Integer(
        "Rows on all pages; absent in histories, leaderboards, feeds with filters or a window,"
        " and with `after`.",
        optional=True,
    )


PAGINATION = Rows(PaginationSchema, "Size of the page, and the cursor of the next one.")
OPTIONAL_PAGINATION = Rows(
    PaginationSchema,
    "Size of the page, and the cursor of the next one; absent without `limit`.",
    optional=True,
)
