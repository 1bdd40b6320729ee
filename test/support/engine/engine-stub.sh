#!/bin/sh
# Replaces `pulumi` in tests. It answers from the files in $FAKE_ENGINE. If a test has written a
# file in `runs` for an operation, engine-stub.mjs runs this operation.
set -eu
here=${FAKE_ENGINE:?}
printf '%s\n' "$*" >>"$here/calls"
env >"$here/environment-$1"

stack() {
  if [ -e "$here/refusals/stack $1" ]; then
    cat "$here/refusals/stack $1" >&2
    exit 1
  fi
  case $1 in
    init)
      if [ -e "$here/state.json" ]; then
        echo "error: stack 'dev' already exists" >&2
        exit 255
      fi
      echo '{"version":3,"deployment":{}}' >"$here/state.json"
      ;;
    import) cat >"$here/state.json" ;;
    history) cat "$here/history.json" ;;
    tag)
      if [ ! -e "$here/state.json" ]; then
        echo "error: no stack named 'dev' found" >&2
        exit 255
      fi
      case $2 in
        set) printf '%s\n' "$4" >"$here/tag $3" ;;
        get)
          if [ ! -e "$here/tag $3" ]; then
            echo "error: stack tag '$3' not found for stack 'dev'" >&2
            exit 255
          fi
          cat "$here/tag $3"
          ;;
      esac
      ;;
    ls)
      updating=false
      if [ -e "$here/updating" ]; then updating=true; fi
      name=other
      if [ -e "$here/state.json" ]; then name=dev; fi
      echo "[{\"name\":\"$name\",\"current\":true,\"updateInProgress\":$updating}]"
      ;;
    *)
      if [ ! -e "$here/state.json" ]; then
        echo "error: no stack named 'dev' found" >&2
        exit 255
      fi
      case $* in
        export*) cat "$here/state.json" ;;
        rm*) rm "$here/state.json" ;;
        rename*)
          echo "error: a stack named dev already exists" >&2
          exit 255
          ;;
        output*--show-secrets*) cat "$here/outputs-clear.json" ;;
        output*) cat "$here/outputs.json" ;;
      esac
      ;;
  esac
}

# The program uses an update with a preview only to hold the lock of the stack.
operation=$1
case $* in
  *--skip-preview=false*) operation=hold ;;
esac

case $operation in
  version) echo v3.250.0 ;;
  config)
    if [ ! -e "$here/state.json" ]; then
      echo "error: no stack named 'dev' found" >&2
      exit 255
    fi
    if [ -e "$here/refusals/config" ]; then
      cat "$here/refusals/config" >&2
      exit 255
    fi
    cat "$here/config.json"
    ;;
  stack)
    shift
    stack "$@"
    ;;
  hold) exec "${NODE:?}" "${0%/*}/engine-stub.mjs" hold "$@" ;;
  destroy) exec "${NODE:?}" "${0%/*}/engine-stub.mjs" "$@" ;;
  up | preview | refresh)
    if [ -e "$here/runs/$1.json" ]; then exec "${NODE:?}" "${0%/*}/engine-stub.mjs" "$@"; fi
    ;;
esac
