"""Pictures: colours, layouts and SVG, and the choices that notebooks' figures and the browser's share.

``charts`` has what pages show. Functions take what a page's JSON view has, and a ``link`` where they need addresses.
"""
