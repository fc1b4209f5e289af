#!/usr/bin/env bash
set -e
apt-get update && apt-get install -y bubblewrap xvfb python3-tk python3-venv
python3 -m venv --system-site-packages /opt/py2048
cd "$(dirname "$0")" && /opt/py2048/bin/pip install @PACKAGE@
ln -sf /opt/py2048/bin/py2048 /usr/local/bin/py2048
