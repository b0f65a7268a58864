# shellcheck shell=sh
# What one file sets, another one uses.
# shellcheck disable=SC2034,SC2154
# SPDX-License-Identifier: Apache-2.0
#
# Files without an agent, in the sandbox: a function for each word that the library says, with the
# arguments that engine_ask.c makes; and in the end the call. Begins in engine_walk.sh.

# FOLLOW
do_stat() {
  need stat readlink
  walk "$path" "$1"
  there "$name" || gone
  show "$name" || gone
}

do_list() {
  need stat readlink xargs
  walk "$path" 1
  [ "$name" = . ] || enter "$name"
  [ -r . ] || die 'Permission denied'
  set -- * .[!.]* ..?*
  for each; do [ ! -L "./$each" ] || show "$each"; done
  for each; do
    [ -L "./$each" ] || [ ! -e "./$each" ] || printf '%s\0' "./$each"
  done | xargs -0 -r stat -c "$format" 2>/dev/null
}

# FIRST-BYTE LENGTH; the first byte is 1, and a length of 0 is all.
do_read() {
  need stat readlink cat tail head
  walk "$path" 1
  there "$name" || gone
  must_be_file "$name"
  said=$({ : <"./$name"; } 2>&1) || die_of "$said"
  show "$name"
  printf 'c\n'
  failed=''
  case $1,$2 in
  1,0) cat "./$name" ;;
  *,0) tail -c "+$1" "./$name" ;;
  1,*) head -c "$2" "./$name" ;;
  *) tail -c "+$1" "./$name" | head -c "$2" ;;
  esac 2>/dev/null || failed=1
  printf '%s' "$marker"
  [ ! "$failed" ] || die 'Input/output error'
}

# ---- writing ----

# HOW OFFSET MODE OWNER SYNC PARENTS; HOW: r replace, c create, a append, i in place.
do_write() {
  need stat readlink dd chown chmod touch mv rm ln mkdir sync
  mode=$3 owner=$4 mtime='' parents=$6
  case $1 in
  r | c) write_new "$1" "$5" ;;
  *) write_old "$1" "$2" "$5" ;;
  esac
  show "$name"
}

# HOW SYNC. A reader sees all or nothing of it: it gets its name when it is whole.
write_new() {
  walk "$path" ''
  must_have_name
  ! is_directory "$name" || die 'Is a directory'
  [ "$1" = r ] || ! there "$name" || die 'File exists'
  make_file ".cofferdam-$marker"
  temporary=.cofferdam-$marker
  trap drop_temporary EXIT
  trap 'exit 1' HUP INT TERM
  exec 3>"./$temporary"
  take_content
  exec 3>&-
  [ "$1" = c ] || keep_attributes
  : "${mode:=0644}"
  set_attributes "$temporary"
  [ ! "$2" ] || try sync "./$temporary"
  if [ "$1" = r ]; then
    [ ! -L "./$name" ] || rm -f "./$name"
    try mv -f "./$temporary" "./$name"
  else
    try ln "./$temporary" "./$name"
    rm -f "./$temporary"
  fi
  temporary=''
  [ ! "$2" ] || try sync .
}

# What is replaced hands them on, where nothing else was asked for.
keep_attributes() {
  if [ ! -f "./$name" ] || [ -L "./$name" ]; then return 0; fi
  old=$(stat -c '%u:%g 0%a' "./$name" 2>/dev/null)
  [ "$owner" ] || chown "${old% *}" "./$temporary" 2>/dev/null
  : "${mode:=${old#* }}"
}

# HOW OFFSET SYNC
write_old() {
  walk "$path" 1
  ! there "$name" || must_be_file "$name"
  [ "$1" = a ] || there "$name" || gone
  if [ "$1" = a ]; then
    said=$({ : >>"./$name"; } 2>&1) || die_of "$said"
    exec 3>>"./$name"
  else
    said=$({ : 3<>"./$name"; } 2>&1) || die_of "$said"
    exec 3<>"./$name"
    [ "$2" = 0 ] || dd if=/dev/null bs=1 seek="$2" count=0 conv=notrunc >&3 2>/dev/null
  fi
  take_content
  exec 3>&-
  set_attributes "$name"
  [ ! "$3" ] || try sync "./$name"
}

# ---- names ----

# MODE PARENTS
do_mkdir() {
  need mkdir chmod readlink
  parents=$2
  walk "$path" ''
  [ ! "$parents" ] || [ ! -d "./$name" ] || return 0
  must_have_name
  ! there "$name" || die 'File exists'
  try mkdir "./$name"
  [ ! "$1" ] || try chmod "$1" "./$name"
}

# RECURSIVE MISSING-OK
do_remove() {
  need rm rmdir chmod readlink
  missing_ok=$2
  walk "$path" ''
  must_have_name
  there "$name" || gone
  if ! is_directory "$name"; then
    try rm -f "./$name"
  elif [ "$1" ]; then
    rm -rf "./$name" 2>/dev/null || chmod -R u+rwx "./$name" 2>/dev/null
    try rm -rf "./$name"
  else
    try rmdir "./$name"
  fi
}

# NO-REPLACE
do_rename() {
  need mv rm rmdir readlink
  walk "$path" ''
  must_have_name
  there "$name" || gone
  hold
  old=${here%/}/$name held=/proc/self/fd/4/$name directory=''
  ! is_directory "$name" || directory=1
  walk "$other" ''
  must_have_name
  new=${here%/}/$name
  if there "$name"; then
    [ ! "$1" ] || die 'File exists'
    [ "$old" != "$new" ] || return 0
    if is_directory "$name"; then
      [ "$directory" ] || die 'Is a directory'
    else
      [ ! "$directory" ] || die 'Not a directory'
    fi
  fi
  case $here/ in "$old"/*) [ ! "$directory" ] || die 'Invalid argument' ;; esac
  ! is_directory "$name" || try rmdir "./$name"
  [ ! -L "./$name" ] || try rm -f "./$name"
  try mv -f "$held" "./$name" 4<&4
}

# HARD; what it leads to is OTHER, for a hard one a path.
do_link() {
  need ln readlink
  if [ "$1" ]; then
    walk "$other" ''
    must_have_name
    there "$name" || gone
    ! is_directory "$name" || die 'Operation not permitted'
    hold
    old=/proc/self/fd/4/$name
  else
    decode "$other"
    old=$text
    [ "$old" ] || gone
  fi
  walk "$path" ''
  must_have_name
  ! there "$name" || die 'File exists'
  if [ "$1" ]; then try ln "$old" "./$name" 4<&4; else try ln -s -- "$old" "./$name"; fi
}

# FOLLOW MODE OWNER MTIME SIZE
do_attributes() {
  need chown chmod touch dd readlink
  walk "$path" "$1"
  there "$name" || gone
  mode=$2 owner=$3 mtime=$4
  [ ! "$mode" ] || [ ! -L "./$name" ] || die 'Operation not supported'
  if [ "$5" ]; then
    must_be_file "$name"
    try dd if=/dev/null of="./$name" bs=1 seek="$5" count=0
  fi
  set_attributes "$name"
}

"do_$word" "$@"
printf '.\n'
