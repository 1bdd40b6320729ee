import { teardownScripts } from "../../../components/kubeadm/node-scripts.js";

/** Stubs of the machine on which a teardown runs. */
export const common: Readonly<Record<string, string>> = {
  hostname: "echo machine",
  systemctl: "exit 0",
};

/**
 * Returns a stub of kubectl that answers the given cases. Other calls succeed. The stub stores an
 * applied policy. It records each deletion as the object and the flags, for example "Pod shop
 * db-0".
 */
export const kubectl = (cases: Readonly<Record<string, string>>): string =>
  [
    'case "$*" in "delete -f -"*)',
    `  objects=$(awk -F'[ ,"]+' '/^{/ { print $4, ($9 == "" ? "-" : $9), $7 }')`,
    '  while read -r one; do echo "$one${6:+ ${*:6}}"; done <<<"$objects" >>$root/deleted',
    '  set -- "delete $(head -n 1 <<<"$objects")"',
    "esac",
    'case "$*" in',
    ...Object.entries(cases).map(([words, body]) => `  ${words}) ${body} ;;`),
    '  "apply -f -") cat >$root/policy ;;',
    '  *"delete validatingadmissionpolicy"*) rm -f $root/policy ;;',
    "esac",
  ].join("\n");

/** Returns the teardown scripts with shorter waits, in seconds. */
export const patience = (seconds: number): readonly string[] =>
  teardownScripts.map((text) =>
    text
      .replaceAll(/(wait_until_none_left "?[a-z ]+"?) (240|420|900)/g, `$1 ${seconds.toString()}`)
      .replaceAll(/\(\(stalled_seconds < (10|30)\)\)/g, "((stalled_seconds < 1))")
      .replaceAll("said + 20", "said + 2"),
  );

export const services = '"get services"*';
export const volumes = '"get persistentvolumes,"*';
