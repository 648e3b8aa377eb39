"""URLs of all pages, by room.

Pages by share links come last: they match any path below the link.
"""

from __future__ import annotations

from django.urls import URLPattern

from web.pages.charts import urls as charts
from web.pages.compare import urls as compare
from web.pages.dashboards import urls as dashboards
from web.pages.help import urls as help_urls
from web.pages.home import urls as home
from web.pages.ladders import urls as ladders
from web.pages.people import account_urls
from web.pages.people import urls as people
from web.pages.projects import urls as projects
from web.pages.reports import urls as reports
from web.pages.run import urls as run
from web.pages.run_files import urls as run_files
from web.pages.run_profile import urls as run_profile
from web.pages.runs import urls as runs
from web.pages.sdk import urls as sdk
from web.pages.sharing import urls as sharing

urlpatterns: list[URLPattern] = [
    *home.urlpatterns,
    *help_urls.urlpatterns,
    *sdk.urlpatterns,
    *account_urls.urlpatterns,
    *people.urlpatterns,
    *projects.urlpatterns,
    *runs.urlpatterns,
    *run.urlpatterns,
    *run_files.urlpatterns,
    *run_profile.urlpatterns,
    *charts.urlpatterns,
    *compare.urlpatterns,
    *ladders.urlpatterns,
    *dashboards.urlpatterns,
    *reports.urlpatterns,
    *sharing.urlpatterns,
]
