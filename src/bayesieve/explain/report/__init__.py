"""Reports: one self-contained HTML file about a selection."""

from .page import explanations_page, make_report, write_report

__all__ = ["explanations_page", "make_report", "write_report"]
