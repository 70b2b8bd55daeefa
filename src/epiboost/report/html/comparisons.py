"""The comparisons on the page, with the names of what is compared."""

from typing import NamedTuple

from epiboost.report.facts import DomainComparison, Facts


class ComparedTables(NamedTuple):
    """A comparison and the names of both sides.

    Attributes
    ----------
    key : str
        Identifies the chart on the page.
    domain : DomainComparison
    inside, outside : str
        Names of the rows of the domain and of the table, as in a legend.
    """

    key: str
    domain: DomainComparison
    inside: str
    outside: str


def compared_tables(facts: Facts) -> tuple[ComparedTables, ...]:
    """Return the comparison with the other table, then that with the training rows, as far as they were made."""
    found = (
        ("domain", facts.domain, "this table", "the other table"),
        ("training", facts.out_of_domain.training, "the training rows", "this table"),
    )
    return tuple(ComparedTables(key, domain, *names) for key, domain, *names in found if domain is not None)
