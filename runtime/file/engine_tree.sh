# shellcheck shell=sh
# What one file sets, another one uses.
# shellcheck disable=SC2034,SC2154
# SPDX-License-Identifier: Apache-2.0
#
# Files without an agent, in the sandbox: trees. Begins in engine_walk.sh.

# ---- out ----

# Something in a tree that may not be read.
skip() {
  [ "$keep_going" ] || die 'Permission denied'
  printf 's\n'
}

# A directory has a shell of its own, which knows where it is.
tell_directory() {
  if [ ! -r "./$1" ] || [ ! -x "./$1" ]; then
    skip
    return 0
  fi
  [ "$level" -lt 128 ] || die 'File name too long'
  show "$1"
  (
    level=$((level + 1))
    [ "$1" = . ] || enter "$1"
    for each in * .[!.]* ..?*; do ! there "$each" || tell "$each"; done
    :
  ) || exit 1
  printf 'u\n'
}

# No more than it had when it was looked at.
tell_file() {
  [ -r "./$1" ] || { skip; return 0; }
  size=$(stat -c "$format" "./$1" 2>/dev/null) || return 0
  printf '%s\nc\n' "$size"
  size=${size#* * * }
  failed=''
  head -c "${size%% *}" "./$1" 2>/dev/null || failed=1
  printf '%s' "$marker"
  [ ! "$failed" ] || die 'Input/output error'
}

tell() {
  entry=$1
  if [ -L "./$1" ]; then
    show "$1"
  elif [ -d "./$1" ]; then
    tell_directory "$1"
  elif [ -f "./$1" ]; then
    tell_file "$1"
  elif [ -p "./$1" ]; then
    show "$1"
  elif there "$1"; then
    printf 's\n'
  fi
}

# KEEP-GOING
do_download() {
  need stat readlink head
  keep_going=$1
  walk "$path" ''
  there "$name" || gone
  top=${here%/}/$name
  [ "$name" != . ] || top=$here
  tell "$name"
}

# ---- in ----

# For something new.
make_room() {
  there "$1" || return 0
  [ "$replace" ] || die 'File exists'
  ! is_directory "$1" || die 'Is a directory'
  try rm -f "./$1"
}

take_directory() {
  if is_directory "$1"; then
    { [ -w "./$1" ] && [ -x "./$1" ]; } || chmod u+rwx "./$1" 2>/dev/null
  else
    make_room "$1"
    try mkdir -m 0700 "./$1"
  fi
  [ "$1" = . ] || enter "$1"
}

take_file() {
  make_room "$1"
  make_file "$1"
  exec 3>"./$1"
  take_content
  exec 3>&-
  set_attributes "$1"
}

take_link() {
  make_room "$1"
  decode "$2"
  try ln -s -- "$text" "./$1"
  set_attributes "$1"
}

take_pipe() {
  make_room "$1"
  try mkfifo "./$1"
  set_attributes "$1"
}

# A second name of a file that is called TARGET in the tree. It is made from where the file is,
# which is not to be out of the tree.
take_hard_link() {
  decode "$2"
  make_room "$1"
  hold
  (
    from=$top old=./${text##*/}
    case $text in */*) from=$top/${text%/*} ;; esac
    { cd -P "$from" 2>/dev/null && is_at "$from"; } || outside
    { [ -f "$old" ] && [ ! -L "$old" ]; } || die 'Invalid argument'
    try ln "$old" "/proc/self/fd/4/$1" 4<&4
  ) || exit 1
}

# SET-OWNER SYNC PARENTS REPLACE
do_upload() {
  need stat readlink dd chown chmod touch rm ln mkdir mkfifo sync
  parents=$3
  walk "$path" ''
  parents='' top=${here%/}/$name replace=$4
  [ "$name" != . ] || top=$here
  while read -r kind mode ids mtime entry target; do
    decode "$entry"
    entry=$text owner=''
    [ ! "$1" ] || owner=$ids
    [ "$entry" != . ] || entry=$name
    case $kind in
    D) take_directory "$entry" ;;
    L)
      set_attributes .
      { [ "$here" = "$top" ] && [ "$name" = . ]; } || leave ;;
    F) take_file "$entry" ;;
    S) take_link "$entry" "$target" ;;
    P) take_pipe "$entry" ;;
    H) take_hard_link "$entry" "$target" ;;
    A)
      ! there "$entry" || show "$entry"
      printf 'a\n' ;;
    .)
      [ ! "$2" ] || sync
      return 0 ;;
    esac
  done
  die cut
}
