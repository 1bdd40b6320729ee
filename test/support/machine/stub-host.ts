import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  getLabPaths,
  readLabSettings,
  type LabPaths,
  type LabSettings,
} from "../../../packages/lab/settings.js";

/** Commands that tests really execute. They change only files in their arguments. */
const harmless = [
  ...["basename", "bash", "cat", "chmod", "cp", "dirname", "env", "find", "grep", "ln", "mkdir"],
  ...["mv", "openssl", "rm", "rmdir", "sed", "sh", "sort", "tar", "touch", "true"],
];

function script(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

/**
 * Loopback range that only this process uses, so that a fake cloud can listen on the usual ports.
 */
const loopback = `127.${100 + ((process.pid >> 8) % 100)}.${process.pid % 256}.0/24`;

/**
 * Directory that simulates a host. PATH contains stubs that record their calls, and a few harmless
 * commands. All other commands are missing. The caches, the state and the name of the lab are
 * separate.
 */
export class StubHost {
  readonly root = mkdtempSync(join(tmpdir(), "stackadm-host-"));
  readonly settings: LabSettings;
  readonly paths: LabPaths;
  readonly #calls = join(this.root, "calls");
  readonly #saved = new Map<string, string | undefined>();

  constructor(stubs: Readonly<Record<string, string>> = {}) {
    const bin = join(this.root, "bin");
    mkdirSync(bin);
    for (const name of harmless) {
      const real = ["/usr/bin", "/bin"].map((place) => join(place, name)).find(existsSync);
      // Creates a wrapper and not a link. If a stub replaced a link, it would overwrite the command
      // of the host.
      if (real !== undefined) script(join(bin, name), `#!/bin/sh\nexec ${real} "$@"\n`);
    }
    for (const [name, body] of Object.entries(stubs)) this.stub(name, body);
    this.#set({
      PATH: bin,
      XDG_CACHE_HOME: join(this.root, "cache"),
      XDG_STATE_HOME: join(this.root, "state"),
      STACKADM_LAB_NAME: `u${process.pid.toString(36)}`,
      STACKADM_LAB_MANAGEMENT: loopback,
      STACKADM_LAB_EXTERNAL: "192.0.2.0/24",
      STACKADM_LAB_SERVICES: "198.51.100.0/24",
      STACKADM_LAB_MIRROR: "never",
    });
    this.settings = readLabSettings();
    this.paths = {
      ...getLabPaths(this.settings.name),
      mounted: join(this.root, "mounted"),
      kernelSettings: join(this.root, "kernel-settings"),
      sysctls: join(this.root, "sys"),
      namespaces: join(this.root, "netns"),
      interfaces: join(this.root, "net"),
    };
    const kernel = { "net/ipv4/ip_forward": 0, "fs/inotify/max_user_instances": 128 };
    for (const [name, value] of Object.entries(kernel)) this.put(`sys/${name}`, `${value}\n`);
    this.put("sys/fs/inotify/max_user_watches", "1000000\n");
  }

  #set(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      this.#saved.set(name, process.env[name]);
      process.env[name] = value;
    }
  }

  /**
   * Adds a command that records its call and then runs `body`, a shell script. `$root` is the
   * directory of the host.
   */
  stub(name: string, body: string): void {
    const file = join(this.root, "bin", name);
    const record = `printf '%s\\n' "${name} \${*//$'\\n'/ }" >>"$root/calls"`;
    script(file, `#!/bin/bash\nroot=${this.root}\n${record}\n${body}\n`);
  }

  /** Returns the calls since the last call of this method, in order. */
  calls(): string[] {
    const text = existsSync(this.#calls) ? readFileSync(this.#calls, "utf8").trimEnd() : "";
    rmSync(this.#calls, { force: true });
    return text === "" ? [] : text.split("\n");
  }

  /** Returns the calls that begin with these words. */
  called(...words: string[]): string[] {
    return this.calls().filter((call) => `${call} `.startsWith(`${words.join(" ")} `));
  }

  put(path: string, content = ""): string {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  read(path: string): string | undefined {
    const file = join(this.root, path);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  }

  close(): void {
    for (const [name, value] of this.#saved) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

/**
 * Stub of btrfs. A subvolume is a folder that contains the file `.subvolume`. Like the real btrfs,
 * the stub refuses to delete a subvolume that contains another subvolume. In a snapshot, a nested
 * subvolume is an empty folder.
 */
export const btrfs = `case "$1 $2" in
  "subvolume create") mkdir "$3" && touch "$3/.subvolume" ;;
  "subvolume delete")
    if [ -n "$(find "$3" -mindepth 2 -name .subvolume)" ]; then
      echo "Could not destroy subvolume: Directory not empty" >&2; exit 1
    fi
    rm -r "$3" ;;
  "subvolume snapshot")
    [ ! -e "$4/.subvolume" ] || { echo "target exists" >&2; exit 1; }
    cp -a "$3" "$4"
    find "$4" -mindepth 2 -name .subvolume | sort -r | while read -r mark; do
      inner=$(dirname "$mark"); rm -r "$inner"; mkdir "$inner"
    done ;;
  "subvolume list")
    find "$3" -mindepth 2 -name .subvolume | sort | while read -r mark; do
      path=$(dirname "$mark"); echo "ID 256 gen 1 top level 5 path \${path#"$3/"}"
    done ;;
esac`;

/**
 * Stub of podman that has at most one container. The script `$root/inside` answers commands in the
 * container.
 */
export const podman = `case "$*" in
  *State.Pid*) echo "$PPID" ;;
  *"container inspect"*) [ -e "$root/container" ] && echo running 0123abcd || exit 125 ;;
  *" run --detach "*) printf '%s\\n' "$@" >"$root/container" ;;
  *" rm --force "*) rm -f "$root/container" ;;
  *" exec "*) if [ -e "$root/inside" ]; then . "$root/inside"; fi ;;
esac`;

/** Stub of runc: reports the container as stopped if `$root/killed` exists. */
const runc = `if [ "$*" = "state 0123abcd" ]; then
  [ -e "$root/killed" ] && echo '{"status": "stopped"}' || echo '{"status": "running"}'
else
  exit 1
fi`;

/** Stub of ip: namespaces and interfaces are files. */
export const ip = `case "$1 $2" in
  "netns add") mkdir -p "$root/netns" && touch "$root/netns/$3" ;;
  "netns del") rm "$root/netns/$3" ;;
  "link add") mkdir -p "$root/net" && touch "$root/net/$3" ;;
  "link del") rm "$root/net/$3" ;;
esac`;

/**
 * Shell code at the start of a stub. It makes the first two calls with the same arguments fail with
 * "Device or resource busy".
 */
export const busyAtFirst = `tries="$root/tries-\${*//[^a-z0-9]/_}"
  if [ "$(cat "$tries" 2>/dev/null)" != xx ]; then
    printf x >>"$tries"
    echo "Device or resource busy" >&2
    exit 1
  fi`;

/** Stubs of the commands that the lab needs on its host. */
export const hostStubs: Readonly<Record<string, string>> = {
  btrfs,
  podman,
  runc,
  ip,
  iptables: "true",
  losetup: `echo '{"loopdevices": []}'`,
  mount: "true",
  umount: "true",
  "mkfs.btrfs": "true",
};
