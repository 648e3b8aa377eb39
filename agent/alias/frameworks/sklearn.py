"""The same as `seamark.frameworks.sklearn`."""

from seamark.frameworks.sklearn import (
    log_cross_validation,
    log_estimator,
    log_search,
)

__all__ = ["log_cross_validation", "log_estimator", "log_search"]
