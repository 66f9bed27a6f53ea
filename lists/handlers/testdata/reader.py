"""Reads pairs of messages, as they came and as a list sent them on, with Python's email
package, and prints what is wrong: an author's text or attachment that is not there any
more as it was, a header or footer that is not there once.

Standard input: a JSON array of {"name", "came", "copy" (base64), "footer", "header"
(text; "": none is expected)}.
"""
import base64
import email
import json
import sys


def leaves(m):
    """Type, file name and content of each part without parts."""
    return [(p.get_content_type(), p.get_filename(), (p.get_payload(decode=True) or b"").replace(b"\r\n", b"\n"))
            for p in m.walk() if not p.is_multipart()]


def text(p):
    """A leaf's content as text, if it is any."""
    try:
        return p.get_payload(decode=True).decode(p.get_content_charset("us-ascii"), "replace").replace("\r\n", "\n")
    except LookupError:
        return p.get_payload(decode=True).decode("latin-1").replace("\r\n", "\n")


def carries(part, own, additions):
    """Whether a leaf of the copy is an author's, with nothing but header and footer around."""
    if part == own:
        return True
    kind, name, content = part
    if (kind, name) != own[:2] or kind != "text/plain":
        return content.strip() == own[2].strip() and (kind, name) == own[:2]
    at = content.find(own[2].strip(b"\n"))
    if at < 0:
        return False
    rest = content[:at] + content[at + len(own[2].strip(b"\n")):]
    for codec in ("utf-8", "latin-1", "cp1252"):
        left = rest.decode(codec, "replace")
        for a in additions:
            left = left.replace(a, "", 1)
        if not left.strip():
            return True
    return False


def check(case):
    came = email.message_from_bytes(base64.b64decode(case["came"]))
    copy = email.message_from_bytes(base64.b64decode(case["copy"]))
    additions = [a.replace("\r\n", "\n").strip("\n") for a in (case["header"], case["footer"]) if a]
    parts = leaves(copy)
    at = 0
    for own in leaves(came):
        while at < len(parts) and not carries(parts[at], own, additions):
            at += 1
        if at == len(parts):
            yield f"lost: {own}"
            return
        at += 1
    whole = "\n".join(text(p) for p in copy.walk() if p.get_content_maintype() == "text")
    for a in additions:
        if whole.count(a) != 1:
            yield f"{whole.count(a)} times: {a!r} in {whole!r}"
    if copy.defects and not came.defects:
        yield f"defects: {copy.defects}"


for case in json.load(sys.stdin):
    for wrong in check(case):
        print(f"{case['name']}: {wrong}")
