#!/bin/sh
# A browser for the tests: nothing to do where there is one, Debian's own where we may install it.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-liberation
    exit $?
fi
echo "The browser tests need Chromium: install your system's package (chromium, chromium-browser or google-chrome)." >&2
exit 1
