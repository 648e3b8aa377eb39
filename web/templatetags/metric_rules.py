"""Metric rules in words."""

from __future__ import annotations

from django import template

from web.pages.projects.metric_rule_texts import condition_text

register = template.Library()
register.simple_tag(condition_text)
