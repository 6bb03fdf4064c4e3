#!/usr/bin/env python3
"""Checks a built site: links lead somewhere, nothing is loaded from elsewhere, pictures say what they show, what the
search finds is there, llms.txt has every page. Prints what is wrong, a line each, and ends with status 1.

    tools/site/check.py FOLDER
"""

import json
import posixpath
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which a page loads something, and those by which it links.
LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}
LINKS = {("a", "href")}
# Links of relation that load nothing.
RELATIONS = {"canonical", "home", "license"}

# What tools/site/assets/site.js reads of an entry of the search's index.
SEARCHED = ("path", "id", "dir", "title", "what", "text", "code")


class Page(HTMLParser):
    """What a page has: places that links may name, links, what it loads, pictures without a word."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.mute = set(), [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "img" and "alt" not in found:
            self.mute += 1
        for name, value in attrs:
            if (tag, name) in LINKS and value:
                self.links.append(value)
            elif (tag, name) in LOADS and value and found.get("rel") not in RELATIONS:
                self.loads.append(value)


def complaints(site):
    pages = {
        path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    for name, page in pages.items():
        if page.mute:
            yield f"{name}: {page.mute} pictures without a description"
        for target in page.loads:
            parts = urlsplit(target)
            if parts.scheme not in ("", "data") or parts.netloc:
                yield f"{name}: loads {target}"
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            if target.startswith("/"):
                yield f"{name}: {target} is not relative, so the site would have to stand at a server's root"
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            if (site / path).is_dir():
                path = posixpath.join(path, "index.html")
            if not (site / path).is_file():
                yield f"{name}: {target} leads nowhere"
            elif parts.fragment and path in pages and unquote(parts.fragment) not in pages[path].ids:
                yield f"{name}: {target} names no place on that page"

    index = (site / "search-index.js").read_text(encoding="utf-8")
    for entry in json.loads(index.partition("=")[2].strip().rstrip(";")):
        lacking = [field for field in SEARCHED if not isinstance(entry.get(field), str)]
        path, place = entry.get("path"), entry.get("id")
        if lacking:
            yield f"search: {path} has no {', '.join(lacking)}"
        elif not entry["title"]:
            yield f"search: {path} has no title"
        elif path not in pages or (place and place not in pages[path].ids):
            yield f"search: {path}#{place} is not there"

    listed = set(re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8")))
    for path in sorted(listed):
        if not (site / path).is_file():
            yield f"llms.txt: {path} is not there"
    # A page that only sends on to another one is no page of its own.
    wanted = {name for name in pages if re.match(r"(articles|reference)/[^/]+\.html$", name) and pages[name].ids}
    for name in sorted(wanted - listed - {"articles/index.html"}):
        yield f"llms.txt: {name} is missing"


def main():
    wrong = list(complaints(Path(sys.argv[1])))
    print("\n".join(wrong) if wrong else "site: clean")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
