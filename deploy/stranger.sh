#!/usr/bin/env bash
# What a stranger finds: a Debian with Node 20 and npm and nothing else (no compiler, no Python, no browser, no git), a copy of
# what is committed here, and the two commands of the README, timed.
#   deploy/stranger.sh [start|test|all]     needs Linux, root, debootstrap, git and npm, and the registries
# FOLDER says where it is made (2 GB; by default a new one), KEEP=1 leaves it there, to be used again as FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."
WHAT=${1:-all}
ROOT=${FOLDER:-$(mktemp -d)}
ARCH=$(node -p process.arch)
HOME_THERE=/home/stranger
CHECKOUT=$HOME_THERE/influencer-stats

if [ ! -x "$ROOT/usr/local/bin/npx" ]; then
  debootstrap --variant=minbase "${SUITE:-bookworm}" "$ROOT" > "$ROOT.log" 2>&1 || { tail -20 "$ROOT.log"; exit 1; }
  rm -f "$ROOT.log"
  # As it is unpacked from its archive: the package of Debian would bring a compiler and Python along.
  PACKED=$(mktemp -d)
  (cd "$PACKED" && npm pack --silent "node-linux-$ARCH@20" npm@10 > /dev/null)
  for name in node-linux npm; do
    mkdir -p "$PACKED/$name" && tar xzf "$PACKED/$name"-*.tgz -C "$PACKED/$name" --strip-components=1
  done
  mkdir -p "$ROOT/usr/local/lib/node_modules"
  cp "$PACKED/node-linux/bin/node" "$ROOT/usr/local/bin/"
  cp -r "$PACKED/npm" "$ROOT/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$ROOT/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$ROOT/usr/local/bin/npx"
  rm -r "$PACKED"
  chroot "$ROOT" useradd --create-home --shell /bin/bash stranger
fi

# How this machine reaches the registries.
cp -L /etc/resolv.conf /etc/hosts "$ROOT/etc/"
TRUST=()
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  cp -L "$NODE_EXTRA_CA_CERTS" "$ROOT/etc/extra-ca.pem"
  TRUST=(NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem)
fi

inside() { chroot --userspec=stranger:stranger "$ROOT" /usr/bin/env -i HOME=$HOME_THERE PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 "${TRUST[@]}" "$@"; }
commands() { inside bash -c "cd $CHECKOUT && $1"; }

SERVER=
# Ends the whole of it, and waits until no service is left.
end_server() {
  [ -n "$SERVER" ] || return 0
  kill -TERM -- "-$SERVER" 2> /dev/null || true
  for pid in $(awk '$2 ~ /^http/ { print $3 }' "$ROOT/tmp/start.out"); do
    while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
  done
  wait "$SERVER" 2> /dev/null || true
  SERVER=
}
finish() {
  end_server
  for place in dev proc; do umount -R "$ROOT/$place" 2> /dev/null || true; done
  # Never what is mounted from outside.
  if [ -z "${KEEP:-}${FOLDER:-}" ] && ! grep -q " $ROOT/" /proc/mounts; then rm -rf "$ROOT"; else echo "left in $ROOT"; fi
}
trap finish EXIT
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev" && mount --make-rslave "$ROOT/dev"

rm -rf "$ROOT$CHECKOUT" && mkdir -p "$ROOT$CHECKOUT"
git archive HEAD | tar x -C "$ROOT$CHECKOUT"
chroot "$ROOT" chown -R stranger:stranger $HOME_THERE
for program in cc c++ make python3 git curl chromium; do
  if inside which $program > /dev/null; then echo "there is a $program in it"; exit 1; fi
done
echo "Node $(inside node --version), npm $(inside npm --version), $(. "$ROOT/etc/os-release" && echo "$PRETTY_NAME"); load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors"

milliseconds() { date +%s%3N; }

if [ "$WHAT" != test ]; then
  # The registry's answers are not at hand, either.
  rm -rf "$ROOT$HOME_THERE/.npm" "$ROOT$HOME_THERE/.cache" "$ROOT$HOME_THERE/.local"
  BEGUN=$(milliseconds)
  set -m
  commands 'exec npx -y pnpm@12.21.0 start --port 0' > "$ROOT/tmp/start.out" 2>&1 &
  SERVER=$!
  set +m
  until grep -q '^Try stats' "$ROOT/tmp/start.out"; do
    kill -0 "$SERVER" 2> /dev/null || { cat "$ROOT/tmp/start.out"; exit 1; }
    sleep 0.05
  done
  READY=$(milliseconds)
  URL=$(sed -nE 's/^stats +(http\S+).*/\1/p' "$ROOT/tmp/start.out")
  STATISTIC=$(inside node --input-type=module -e "
    const url = '$URL/collections/first'
    const headers = { 'content-type': 'application/json' }
    const put = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ videos: ['-4lB5EKS5Uk'] }) })
    const reply = await fetch(url + '/stats')
    if (put.status !== 201 || reply.status !== 200) throw new Error(put.status + ' ' + reply.status)
    console.log(await reply.text())")
  DONE=$(milliseconds)
  echo "first statistic after $((DONE - BEGUN)) ms, ready after $((READY - BEGUN)) ms: $STATISTIC"
  end_server
  echo "installed: $(find "$ROOT$CHECKOUT/node_modules/.pnpm" -maxdepth 1 -mindepth 1 -type d ! -name node_modules | wc -l) packages, $(du -sm "$ROOT$CHECKOUT/node_modules" | cut -f1) MB"
  echo "processors: $(times | tail -1) (user, system), the start's end included"
  sed -n '1,/^Try/p' "$ROOT/tmp/start.out" | head -40
  [ $((DONE - BEGUN)) -lt 25000 ] || { echo 'the first statistic took longer than 25 s'; exit 1; }
fi

if [ "$WHAT" != start ]; then
  BEGUN=$(milliseconds)
  commands 'exec npx -y pnpm@12.21.0 test' > "$ROOT/tmp/test.out" 2>&1 && STATUS=0 || STATUS=$?
  echo "test: $(tail -1 "$ROOT/tmp/test.out") (exit $STATUS) after $((($(milliseconds) - BEGUN) / 1000)) s"
  [ $STATUS = 0 ] || { grep -aE '^ *(FAIL|Error|AssertionError)' "$ROOT/tmp/test.out" | sort | uniq -c | head -60; exit 1; }
fi
