"""Page timings in a real browser; each module measures one page."""
