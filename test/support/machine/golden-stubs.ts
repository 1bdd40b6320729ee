import { hostStubs } from "./stub-host.js";

/**
 * Stubs of the commands that build a golden image of the cloud. The real build takes minutes. The
 * stubs only create files with the right names. The file `$root/fail` contains the name of a
 * command that must fail.
 */
export const goldenStubs: Readonly<Record<string, string>> = {
  ...hostStubs,
  "apt-config": "true",
  setpriv: 'while [ "$1" != --mount-proc ]; do shift; done; shift; exec "$@"',
  mmdebstrap: `if [ "$(cat "$root/fail")" = mmdebstrap ]; then echo "no mirror" >&2; exit 1; fi
    while [ "$1" != bookworm ]; do shift; done
    cd "$2"
    mkdir -p etc/{ssh,cloud/cloud.cfg.d,default,apt/apt.conf.d,systemd/system,nginx/sites-enabled}
    mkdir -p var/lib/{dpkg,apt/lists} srv sbin
    echo "unique to this host" >etc/machine-id
    touch etc/ssh/ssh_host_rsa_key etc/hostname etc/apt/apt.conf.d/99mmdebstrap
    echo "a site" >etc/nginx/sites-enabled/default
    ln -s /lib/systemd/systemd sbin/init`,
  // Simulates update-ca-certificates in the new root: concatenates the CA certificates.
  chroot: 'cat "$1"/usr/local/share/ca-certificates/*.crt >"$1/etc/trusted"',
  zstd: "cat",
  "dpkg-query": `echo "keystone 2:22.0.0-2+deb12u1"; echo "sudo 1.9"; echo "nova-common 2:26.2.2-1"`,
};
