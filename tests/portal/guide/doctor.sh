#!/bin/sh
wirebeat doctor --json > /tmp/found.json || true
cat /tmp/found.json
