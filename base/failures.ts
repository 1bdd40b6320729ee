import type { FailureRow } from "./failure-row.js";

const goesOn = "Run the same command again: it goes on where it stopped.";

/**
 * Table of all failures. Codes and exit codes are stable across releases. The program's own code
 * names its row where it fails (base/failure.ts); only errors of others (OpenStack, the engine, its
 * plugins) are recognised by their text. The order matters: of several errors, the first in the
 * table is the cause; of several matching rows, the first is used.
 */
export const failures = {
  INVALID_CONFIG: {
    exitCode: 2,
    sentence: "the configuration cannot be used",
    hint: "Correct it and run the same command again.",
    said: [{ text: /Missing required configuration variable/ }],
  },
  INVALID_USAGE: {
    exitCode: 2,
    sentence: "the command line cannot be used",
    hint: "`npx stackadm <command> --help` shows what it takes.",
  },
  CLOUD_NOT_CONFIGURED: {
    exitCode: 2,
    sentence: "no cloud is named, or its entry cannot be used",
    hint: "Set OS_CLOUD to a name in clouds.yaml, or source an openrc file.",
  },
  WRONG_PASSPHRASE: {
    exitCode: 2,
    sentence:
      "the stack's secrets cannot be read: the passphrase is not the one with which the stack was made, or there is none",
    hint: "Let PULUMI_CONFIG_PASSPHRASE_FILE name the file with the passphrase with which the stack was made. Without it, its secrets cannot be read.",
    said: [{ text: /incorrect passphrase|passphrase must be set with/ }],
  },
  TOOL_MISSING: {
    exitCode: 1,
    sentence: "a command is not installed on this machine",
    hint: "Install it and run the same command again.",
  },
  STACK_LOCKED: {
    exitCode: 4,
    sentence: "another operation holds this stack",
    hint: "Wait for it; if its process is gone, run `npx stackadm unlock`.",
  },
  STACK_NOT_FOUND: {
    exitCode: 1,
    sentence: "there is no such stack in this backend",
    hint: "`npx stackadm up --stack <name>` creates it; PULUMI_BACKEND_URL says where the states are.",
  },
  WRONG_PROJECT: {
    exitCode: 3,
    sentence: "the cluster is in another project or region than the one that is signed in to",
    hint: "Set OS_CLOUD (or OS_PROJECT_NAME, OS_REGION_NAME) to where it is, and run the same command again.",
  },
  PROTECTED: {
    exitCode: 1,
    sentence: "the cluster or a part of it is protected from being deleted",
    hint: "Write `protect: false` in its settings and run `npx stackadm up`; then it can be destroyed.",
    said: [{ text: /^resource "" cannot be deleted$|^unable to replace resource ""$/ }],
  },
  PREFLIGHT_FAILED: {
    exitCode: 3,
    sentence: "the cluster does not fit into the cloud",
    hint: "Nothing was changed. `npx stackadm doctor` asks again.",
  },
  HOST_KEY_MISMATCH: {
    exitCode: 1,
    sentence: "the machine answers with another host key than the one it was given",
    hint: "Nothing was sent to it. Another machine may answer in its place (a man-in-the-middle attack); if you rebuilt the machine by hand, raise its generation.",
    said: [{ of: "command:remote:", text: /host key mismatch|knownhosts: key/ }],
  },
  SSH_KEY_REFUSED: {
    exitCode: 1,
    sentence: "the machine refuses the login key",
    hint: "Load the key that the stack uses into ssh-agent: `ssh-add -l` shows what is there.",
    said: [
      {
        of: "command:remote:",
        text: /unable to authenticate|no supported methods remain|[Pp]ermission denied \(publickey/,
      },
    ],
  },
  QUOTA_EXCEEDED: {
    exitCode: 3,
    sentence: "the project's quota is used up",
    hint: "`npx stackadm doctor` shows limits and use; ask for more or delete something, then run the same command again.",
    said: [
      {
        text: /quota exceeded|exceed(?:s|ed) (?:\S+ ){0,4}quota(?![\w.:-])|quota has been met/i,
      },
      { text: /OverQuota|OverLimit/ },
    ],
  },
  AUTH_FAILED: {
    exitCode: 3,
    sentence: "the cloud refused the credentials",
    hint: "Check clouds.yaml or the OS_* variables; `npx stackadm doctor` tries them.",
    said: [
      {
        of: "openstack:",
        text: /Authentication failed|requires authentication|\b401\b.* (?:Unauthorized|identity)/,
      },
    ],
  },
  FORBIDDEN: {
    exitCode: 3,
    sentence: "the cloud does not allow this to the credentials",
    hint: "Ask the cloud's operator for the role that it needs, and run the same command again.",
    said: [
      { of: "openstack:", text: /got 403 instead|Request forbidden: \[|disallowed by policy/ },
    ],
  },
  SERVER_ERROR: {
    exitCode: 1,
    sentence: "Nova could not make the machine",
    hint: "Run the same command again: the machine will be replaced.",
    said: [
      { of: "openstack:compute/", text: /unexpected state 'ERROR'|went (?:in)?to ERROR/ },
      { of: "openstack:", text: /No valid host|[Ii]nstance .* in error state/ },
    ],
  },
  SERVER_NEVER_BOOTED: {
    exitCode: 1,
    sentence: "a machine runs, but never answered on SSH: it booted badly or not at all",
    hint: "Run the same command again: the machine will be replaced. Where it only boots slowly, write a larger `timeoutFactor` or more `ssh.bootMinutes` before. Where its console says that cloud-init found no data source, it can read no config drive (Debian 12 genericcloud on the machine type q35: set hw_cdrom_bus=scsi on the image) and reaches no metadata service; where it has no address, its subnet has no DHCP.",
  },
  SERVER_STOPPED: {
    exitCode: 1,
    sentence: "a machine does not run: it was stopped from outside or shut down",
    hint: "Start it (`openstack server start`), then run the same command again: it goes on where it stopped.",
  },
  SERVER_SILENT: {
    exitCode: 1,
    sentence:
      "a machine gave no sign of life while a script ran on it, though Nova says that it runs",
    hint: "Look at its console (`openstack console log show`) and repair the machine, then run the same command again.",
  },
  NOT_FOUND: {
    exitCode: 1,
    sentence: "the cloud does not have what is named",
    hint: "`npx stackadm doctor` says which name the cloud does not have, and which there are instead.",
    said: [
      {
        of: "openstack:",
        text: /(?:unable to find|could not find|no) (?:flavor|image|network)\b|\b(?:flavor|image|network) .* not found|returned no results/i,
      },
    ],
  },
  NAME_OCCUPIED: {
    exitCode: 1,
    sentence: "something of this name is already there",
    hint: "`npx stackadm orphans` shows what an earlier cluster of this name left; or choose another name.",
    said: [{ text: /[^:]* already exists|AlreadyExists/ }],
  },
  LOAD_BALANCER_ERROR: {
    exitCode: 1,
    sentence: "the load balancer did not become active, or accepts no change",
    hint: "Run the same command again: it deletes one that is in ERROR and creates a new one. If that fails, too, `openstack loadbalancer show` and the cloud's operator know why.",
    said: [
      {
        of: "openstack:loadbalancer/",
        text: /\[(?:PUT|DELETE) \S+\],? but got 409 instead|Unable to retrieve parent .*pool/,
      },
      { of: "openstack:loadbalancer/", text: /unexpected state 'ERROR'|state ERROR/ },
      { text: /[Ll]oad ?balancer .*(?: ERROR|not created)/ },
    ],
  },
  DRAIN_BLOCKED: {
    exitCode: 1,
    sentence: "a machine stays as it is, because pods on it cannot be moved",
    hint: "Delete these pods or widen their disruption budget, then run the same command again.",
  },
  TEARDOWN_BLOCKED: {
    exitCode: 1,
    sentence: "the cluster cannot give back what it has in the cloud",
    hint: "Delete what is named (a finalizer has to be removed by the program that set it), then run the same command again. Or run `npx stackadm destroy --abandon`: it deletes the cluster as it is, and keeps and names volumes with data.",
  },
  KUBERNETES_UNREACHABLE: {
    exitCode: 1,
    sentence: "the Kubernetes API does not answer",
    hint: "`npx stackadm status` shows the machines. If the cluster is gone for good: `npx stackadm destroy --abandon`.",
    said: [
      { text: /configured Kubernetes cluster is unreachable|unable to load schema information/ },
      {
        of: "kubernetes:",
        text: /"https:[^"]*": (?:dial tcp|EOF|net\/http: TLS handshake timeout)/,
      },
    ],
  },
  CLOUD_UNTRUSTED: {
    exitCode: 3,
    sentence: "the cloud's certificate cannot be verified",
    hint: "Let `cacert` in clouds.yaml (OS_CACERT) name the file with the certificate of the authority that signed it.",
    said: [{ of: "openstack:", text: /failed to verify certificate: .*|x509: .*/ }],
  },
  CLOUD_BUSY: {
    exitCode: 1,
    sentence: "the cloud was asked more often than it allows",
    hint: "Set the variable PULUMI_PARALLEL to a smaller number, such as 8, then run the same command again.",
    said: [{ of: "openstack:", text: /got 429 instead|Too [Mm]any [Rr]equests/ }],
  },
  CLOUD_UNREACHABLE: {
    exitCode: 3,
    sentence: "the cloud does not answer",
    hint: "Can its addresses be reached from here? `npx stackadm doctor` asks it. Then run the same command again.",
    said: [
      { of: "openstack:", text: /dial tcp|connection refused|i\/o timeout|got 50[234] instead/ },
      // gophercloud 1 writes these texts for 502, 503 and 504.
      { of: "openstack:", text: /Bad Gateway|service is currently unable|Gateway Timeout/ },
    ],
  },
  KUBERNETES_REFUSED: {
    exitCode: 1,
    sentence: "the Kubernetes API refuses an object",
    hint: "Correct what it names and run the same command again.",
    said: [
      {
        of: "kubernetes:",
        text: /was not successfully \w+ by the Kubernetes API server|the apiVersion for this resource does not exist/,
      },
    ],
  },
  CONFIGURATION_UNDONE: {
    exitCode: 1,
    sentence:
      "a component of Kubernetes does not run with its new configuration, so the former one was put back",
    hint: "Correct the argument that it complains about and run the same command again.",
  },
  SSH_UNREACHABLE: {
    exitCode: 1,
    sentence: "the machine cannot be reached by SSH",
    hint: "Is your address in sshCidrs (by default allowedCidrs), and does the machine run? `npx stackadm status` shows it. Then run the same command again.",
    said: [
      {
        of: "command:remote:",
        text: /after \d+ failed attempts|dial tcp|connection (?:refused|timed out)|i\/o timeout/,
      },
    ],
  },
  NOT_READY: {
    exitCode: 1,
    sentence: "it did not become ready in time",
    hint: goesOn,
    said: [
      {
        text: /failed to fully initialize or become live|timed out waiting|timeout while waiting| not ready/i,
      },
    ],
  },
  COMMAND_FAILED: {
    exitCode: 1,
    sentence: "the script on the machine failed",
    hint: "Its output is above. Run the same command again: scripts go on where they stopped.",
    // A script that was killed gives no reason.
    said: [{ of: "command:", text: /Process exited with status \d+|exit status \d+/ }],
  },
  VERIFY_FAILED: {
    exitCode: 5,
    sentence: "the cluster was made, but not everything in it works",
    hint: "`npx stackadm status` looks again; `kubectl -n kube-system get pods` shows the system's pods. A service that does not answer lets in `serviceCidrs` only.",
  },
  UNEXPECTED_CHANGES: {
    exitCode: 6,
    sentence: "something is not as the settings say, and no change was expected",
    hint: "`npx stackadm preview` shows what would change, `npx stackadm up` changes it.",
    said: [{ text: /no changes were expected but changes (?:occurred|were proposed)/ }],
  },
  ENGINE_KILLED: {
    exitCode: 1,
    sentence: "the engine ended without a result",
    hint: "Run the same command again: it finds what was left half-done and goes on.",
  },
  CANCELLED: {
    exitCode: 130,
    sentence: "the operation was stopped on request; what was done is kept",
    hint: "Run the same command again to go on.",
  },
  FAILED: {
    exitCode: 1,
    sentence: "another failure, which the sentence names",
    hint: "Correct that and run the same command again.",
  },
} as const satisfies Readonly<Record<string, FailureRow>>;

/** Code of a failure, for programs. */
export type FailureCode = keyof typeof failures;

/** Codes of all failures, causes before consequences. */
export const failureCodes = Object.keys(failures) as readonly FailureCode[];

/** Returns the row of a code. */
export const rowOf = (code: FailureCode): FailureRow => failures[code];

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(failures, text);
