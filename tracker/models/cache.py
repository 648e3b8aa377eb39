"""Django's cache table, used without Redis."""

from __future__ import annotations

from django.db import models


class CacheEntry(models.Model):
    """The columns that django.core.cache.backends.db expects."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
