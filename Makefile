# Short names; python3 manage.py needs no make.
.PHONY: demo up test help

demo up test help:
	python3 manage.py $@
