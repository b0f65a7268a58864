# shellcheck shell=sh
# What one file sets, another one uses.
# shellcheck disable=SC2034,SC2154
# SPDX-License-Identifier: Apache-2.0
#
# Files without an agent, in the sandbox: how paths are walked, and how it is said what is there and
# what went wrong. engine.h tells what is said in either direction.
#
# engine_walk.sh, engine_tree.sh and engine_calls.sh are sent as one script, in this order and
# without comments and indentation (embed.sh), and called as
#
#     sh -c SCRIPT sh MARKER WORKSPACE WORD PATH OTHER ARGUMENT...
#
# POSIX, for whatever the image has as /bin/sh, and no tools but those that engine.h names. All
# variables are global. A name is always given to a tool as "./NAME", so that none is an option.

marker=$1 workspace=$2 word=$3 path=$4 other=$5
shift 5
unset IFS CDPATH
umask 022
newline='
'
# Of stat. No name has a slash, so one ends it.
format='e%f %u %g %s %Y %i %d %h %n/'
# A file that is removed in the end, until it has its name.
temporary=''
# Of a tree: the path of its top, and the name that is being dealt with.
top='' entry=''
# What a request asked for.
parents='' missing_ok='' keep_going=''
here='' level=0

# ---- errors ----

# With a word of the script's own, or what a tool said; in a tree, a line says what it is about.
die() {
  drop_temporary
  about=''
  case $here/ in "${top:-//}"/*) about=$newline${here#"$top"}/$entry ;; esac
  printf '!\n%s%s%s' "$1" "$about" "$marker"
  exit 1
}

drop_temporary() { [ ! "$temporary" ] || rm -f "./$temporary"; }

# Of "tool: what: why" only the last counts; dd counts its records behind that.
die_of() {
  said=${1%%"$newline"*records*}
  die "${said##*: }"
}

try() {
  said=$("$@" 2>&1) || die_of "$said"
}

need() {
  for tool; do command -v "$tool" >/dev/null 2>&1 || die "lacks $tool"; done
}

outside() { die outside; }

gone() {
  [ ! "$missing_ok" ] || { printf '.\n'; exit 0; }
  die 'No such file or directory'
}

# ---- what is there ----

there() { [ -e "./$1" ] || [ -L "./$1" ]; }

is_directory() { [ -d "./$1" ] && [ ! -L "./$1" ]; }

must_be_file() {
  [ ! -d "./$1" ] || die 'Is a directory'
  [ -f "./$1" ] || die 'Invalid argument'
}

# Not the top of the workspace.
must_have_name() { [ "$name" != . ] || die 'Invalid argument'; }

# Sets `text` to the text of a link. What ends it keeps newlines, which $() would take away.
read_link() {
  text=$(readlink "$1" && echo .) || return 1
  text=${text%"$newline".}
}

show() {
  if [ -L "./$1" ]; then
    read_link "./$1" || return 1
    printf 't\n%s%s' "$text" "$marker"
  fi
  stat -c "$format" "./$1" 2>/dev/null
}

# ---- paths ----

# Sets `text` to what was encoded.
decode() {
  case $1 in
  *\\*)
    text=$(printf '%b.' "$1")
    text=${text%.} ;;
  *) text=$1 ;;
  esac
}

# Are we there? The kernel knows. A shell may not: bash has its $PWD from a look before it goes.
is_at() { read_link /proc/self/cwd && [ "$text" = "$1" ]; }

# Goes into a directory, and nowhere else.
enter() {
  [ ! "$parents" ] || there "$1" || try mkdir "./$1"
  cd -P "./$1" 2>/dev/null || {
    { there "$1" && [ ! -x "./$1" ]; } || [ -f "./$1" ] || gone
    [ ! -d "./$1" ] || die 'Permission denied'
    die 'Not a directory'
  }
  here=${here%/}/$1
  is_at "$here" || outside
}

leave() {
  here=${here%/*}
  here=${here:-/}
  { cd -P .. && is_at "$here"; } || outside
}

go_to_workspace() {
  cd -P "$workspace" 2>/dev/null ||
    { mkdir "$workspace" && cd -P "$workspace"; } 2>/dev/null || die workspace
  here=${workspace%/}
  here=${here:-/}
  is_at "$here" || die 'workspace link'
}

# Keeps the directory that we are in as descriptor 4, whatever its path leads to later.
hold() {
  [ -r . ] || die 'Permission denied'
  exec 4<.
}

# Goes to where the last name of a path is, and sets `name` to it; it is "." only for the workspace
# and where a path ends in "." or "..". A link as the last name is followed when $2 says so.
walk() {
  decode "$1"
  rest=$text depth=0 hops=0 name=. root=${workspace%/}
  case $rest in
  "$root" | "$root"/*) rest=${rest#"$root"} ;;
  /*) outside ;;
  esac
  while case $rest in */) ;; *) false ;; esac; do rest=${rest%/}; done
  go_to_workspace
  while [ "$rest" ]; do
    part=${rest%%/*}
    case $rest in
    */*) rest=${rest#*/} follow=1 ;;
    *) rest='' follow=$2 ;;
    esac
    [ ! "$part" ] || step
  done
}

# One name of a path further.
step() {
  [ ${#part} -le 255 ] || die 'File name too long'
  if [ "$name" != . ]; then
    enter "$name"
    depth=$((depth + 1)) name=.
  fi
  case $part in
  .) ;;
  ..)
    [ "$depth" -gt 0 ] || outside
    leave
    depth=$((depth - 1)) ;;
  *)
    name=$part
    [ ! "$follow" ] || [ ! -L "./$name" ] || follow_link ;;
  esac
}

follow_link() {
  [ "$hops" -lt 40 ] || die 'Too many levels of symbolic links'
  read_link "./$name" || gone
  case $text in /*) outside ;; esac
  rest=$text${rest:+/$rest} hops=$((hops + 1)) name=.
}

# ---- files ----

# A new one, for nobody else.
make_file() {
  said=$({ umask 077; : >"./$1"; } 2>&1) || die_of "$said"
}

# Content from standard input goes to descriptor 3.
take_content() {
  while read -r letter count; do
    [ "$letter" != E ] || return 0
    [ "$letter" = d ] || die 'Input/output error'
    said=$(dd bs="$count" count=1 iflag=fullblock 2>&1 >&3) || die_of "$said"
  done
  die cut
}

# What was asked for: `owner`, `mode` and `mtime`, each of which may be empty.
set_attributes() {
  [ ! "$owner" ] || try chown -h "$owner" "./$1"
  [ ! "$mode" ] || [ -L "./$1" ] || try chmod "$mode" "./$1"
  [ ! "$mtime" ] || try touch -c -h -d "@$mtime" "./$1"
}
