#!/bin/sh
# Installs a Rushhour agent with its own Node.js. Needs a shell, curl or wget, and tar.
# The controller serves this file with its address and the checksums of its archives filled in.
set -eu

controller='@CONTROLLER@'
version='@VERSION@'
# Pin of the controller's certificate for curl; empty unless the controller itself ends TLS.
pin='@PIN@'
# ARCHITECTURE SHA-256 SHA-256-WITHOUT-COMPRESSION, one line each
archives='@ARCHIVES@'

usage="usage: curl -fsSL $controller/agent/install.sh | sh -s -- --token rh_join_… [options]

  --token TOKEN        join token; not needed on a machine whose agent is enrolled
  --fingerprint SHA256 of the controller's TLS certificate
  --ca FILE            authorities that may have signed that certificate, PEM
  --controller URL     where the agent reaches the controller; $controller by default
  --name NAME          name to enrol with; the host name by default
  --prefix FOLDER      everything below this folder, as an instance of its own
  --user USER          account of the service; root keeps it root
  --log-level LEVEL    debug, info, warn or error
  --no-start           installs without starting

Afterwards: rushhour-agent start | stop | restart | status | logs | upgrade | uninstall [--purge]"

fail() { echo "install.sh: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

token='' fingerprint='' ca='' name='' prefix='' account=rushhour-agent level='' starts=1 upgraded=''

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --no-start) starts=; shift; continue ;;
      --help) echo "$usage"; exit 0 ;;
      --token | --fingerprint | --ca | --controller | --name | --prefix | --user | --log-level | --upgrade) ;;
      *) echo "install.sh: $1 is not known" >&2; echo "$usage" >&2; exit 64 ;;
    esac
    [ $# -ge 2 ] || fail "$1 needs a value"
    case $2 in *"'"* | *'
'*) fail "$1 must not contain quotes or line breaks" ;; esac
    case $1 in
      --token) token=$2 ;;
      --fingerprint) fingerprint=$2 ;;
      --ca) ca=$2 ;;
      --controller) controller=${2%/} ;;
      --name) name=$2 ;;
      --prefix) prefix=$2 ;;
      --user) account=$2 ;;
      --log-level) level=$2 ;;
      --upgrade) upgraded=$2 ;;
    esac
    shift 2
  done
}

# Where the program, its configuration and its data go.
choose_folders() {
  if [ -n "$upgraded" ]; then
    program=$upgraded
    # shellcheck source=/dev/null
    . "$program/paths"
  elif [ -n "$prefix" ]; then
    mkdir -p "$prefix"
    prefix=$(cd "$prefix" && pwd)
    program=$prefix/program configuration=$prefix/agent.env data=$prefix/data
  elif [ "$(id -u)" = 0 ]; then
    program=/opt/rushhour-agent configuration=/etc/rushhour-agent/agent.env data=/var/lib/rushhour-agent
  else
    base=${HOME:?}/.local/share/rushhour-agent
    program=$base/program configuration=$base/agent.env data=$base/data
  fi
}

choose_archive() {
  [ "$(uname -s)" = Linux ] || fail "agents run on Linux, not on $(uname -s)"
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no agent for $(uname -m): x86_64 and aarch64 are supported" ;;
  esac
  line=$(echo "$archives" | grep "^$arch " || true)
  [ -n "$line" ] || fail "$controller has no agent for $arch. On the controller's machine, in its folder, run
  npm run agent:archive -- --arch $arch
once (it takes Node.js for $arch from the npm registry and needs no restart), then run this command again."
  # shellcheck disable=SC2086
  set -- $line
  file=rushhour-agent-$version-linux-$arch.tar.gz sum=$2 unpacks=-xzf
  # GNU tar calls gzip; that of BusyBox does not.
  if ! has gzip && ! tar --help 2>&1 | grep -qi busybox; then
    file=${file%.gz} sum=$3 unpacks=-xf
  fi
}

fetch() { # ADDRESS FILE
  if has curl; then
    if [ -n "$pin" ]; then curl -fsSLk --pinnedpubkey "$pin" -o "$2" "$1"
    elif [ -n "$ca" ]; then curl -fsSL --cacert "$ca" -o "$2" "$1"
    else curl -fsSL -o "$2" "$1"; fi
  elif has wget; then
    # The content is compared with the checksum in this script.
    if [ -n "$pin$ca" ]; then wget -q --no-check-certificate -O "$2" "$1"
    else wget -q -O "$2" "$1"; fi
  else fail 'curl or wget is needed'; fi || fail "could not fetch $1"
}

digest_of() { # FILE
  if has sha256sum; then sha256sum "$1"
  elif has shasum; then shasum -a 256 "$1"
  elif has openssl; then openssl dgst -r -sha256 "$1"
  else return 1; fi | cut -c 1-64
}

# Without a program for SHA-256, the Node.js in the archive computes it: that finds damage, not a forgery.
digest_by_node() { # FILE NODE
  echo 'note: this machine has no sha256sum, shasum or openssl; the archive checks itself' >&2
  "$2" -e 'process.stdout.write(require("crypto").hash("sha256", require("fs").readFileSync(process.argv[1])))' "$1"
}

unpack() {
  rm -rf "$program.new"
  mkdir -p "$program.new"
  echo "fetching $file from $controller"
  fetch "$controller/agent/$file" "$program.new.archive"
  if has sha256sum || has shasum || has openssl; then
    [ "$(digest_of "$program.new.archive")" = "$sum" ] || fail "$file is damaged: its SHA-256 is not $sum"
  fi
  tar "$unpacks" "$program.new.archive" -C "$program.new" || fail "tar could not unpack $file"
  "$program.new/bin/node" --version >/dev/null || fail "Node.js does not run here: it needs glibc 2.28 or later and libstdc++ (Alpine and other musl systems have neither)"
  has sha256sum || has shasum || has openssl ||
    [ "$(digest_by_node "$program.new.archive" "$program.new/bin/node")" = "$sum" ] || fail "$file is damaged"
  rm -f "$program.new.archive"
}

write_line() { [ -z "$2" ] || echo "$1='$2'"; }

write_configuration() {
  mkdir -p "${configuration%/*}"
  old_umask=$(umask)
  umask 077
  allows_http=
  case $controller in http://*) allows_http=true ;; esac
  {
    write_line RUSHHOUR_CONTROLLER "$controller"
    write_line RUSHHOUR_JOIN_TOKEN "$token"
    write_line RUSHHOUR_CONTROLLER_FINGERPRINT "$fingerprint"
    write_line RUSHHOUR_CONTROLLER_CA "$ca"
    write_line RUSHHOUR_AGENT_ALLOW_HTTP "$allows_http"
    write_line RUSHHOUR_AGENT_NAME "$name"
    write_line RUSHHOUR_AGENT_DATA_DIR "$data"
    write_line RUSHHOUR_AGENT_LOG_LEVEL "$level"
    write_line RUSHHOUR_INSTALL_PIN "$pin"
  } >"$configuration"
  umask "$old_umask"
}

replace_program() {
  if [ -f "$program/paths" ]; then "$program/rushhour-agent" stop || true; fi
  rm -rf "$program.old"
  if [ -d "$program" ]; then mv "$program" "$program.old"; fi
  mv "$program.new" "$program"
  rm -rf "$program.old"
}

main() {
  read_options "$@"
  choose_folders
  if [ -z "$upgraded$token" ] && [ ! -f "$data/identity.json" ]; then
    fail "--token is needed: create one in the interface (Agents, Enrol agent) or with rushhour agents createToken"
  fi
  has tar || fail 'tar is needed'
  choose_archive
  umask 022
  mkdir -p "${program%/*}"
  unpack
  [ -n "$upgraded" ] || write_configuration
  replace_program
  "$program/rushhour-agent" setup "$configuration" "$data" "$account"
  if [ -z "$starts" ]; then
    echo "installed agent $version in $program; start it with $program/rushhour-agent start"
    return
  fi
  "$program/rushhour-agent" start-enrolled
  echo "agent $version is installed in $program, enrolled at $controller and running"
}

main "$@"
