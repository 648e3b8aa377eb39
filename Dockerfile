FROM python:3.11-slim AS help

WORKDIR /seamark
COPY requirements-docs.txt ./
RUN pip install --no-cache-dir --requirement requirements-docs.txt
COPY ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ./
COPY docs docs
COPY deploy deploy
COPY agent agent
COPY web/__init__.py web/__init__.py
COPY web/pages/__init__.py web/pages/__init__.py
COPY web/pages/help web/pages/help
COPY web/static/web/mark.svg web/static/web/mark.svg
RUN python3 -m web.pages.help.build

FROM python:3.11-slim

RUN useradd --create-home --uid 1000 seamark \
    && install --directory --owner=seamark --mode=700 /data /data/files
WORKDIR /seamark
# Large blocks of memory are given back at once; see tracker/embedded/server.py.
ENV MALLOC_MMAP_THRESHOLD_=1048576
ENV PYTHONUNBUFFERED=1 SEAMARK_DATA=/data SEAMARK_BIND=0.0.0.0

# What changes seldom comes first: with the same requirements the environment is kept.
COPY requirements.txt manage.py ./
COPY tracker/__init__.py tracker/__init__.py
COPY tracker/embedded tracker/embedded
RUN python3 -c "from tracker.embedded.environment import prepare_for; prepare_for('serve')"

COPY agent agent
RUN ln -s agent seamark
COPY tracker tracker
COPY web web
COPY migrations migrations
# With agent/, the SDK that the server offers at /sdk/.
COPY pyproject.toml LICENSE ./
COPY --from=help /seamark/build/help build/help

USER seamark
EXPOSE 8713
ENTRYPOINT [".venv/bin/python", "manage.py"]
CMD ["serve"]
