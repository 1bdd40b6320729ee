import type { FailureRow } from "./failure-row.js";

const runAgainHint = "Run the same command again: it continues where it stopped.";

/**
 * Table of all failures. Codes and exit codes are the same in all releases. Errors of this program
 * contain the code of their row (base/failures/failure.ts). Errors of other programs (OpenStack,
 * the Pulumi engine, plugins) are recognised by their text. The order of the rows has a meaning: if
 * several rows match a text, the first row applies. If a run has several errors, the error whose
 * row comes first is reported as the cause.
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
    hint: "`stackadm <command> --help` shows what it takes.",
  },
  CLOUD_NOT_CONFIGURED: {
    exitCode: 2,
    sentence: "no cloud is named, or its entry cannot be used",
    hint: "Name an entry of clouds.yaml with `pulumi config set openstack:cloud <name>` or OS_CLOUD, or source an openrc file.",
  },
  WRONG_PASSPHRASE: {
    exitCode: 2,
    sentence:
      "the stack's secrets cannot be read: the passphrase differs from the one with which the stack was created, or none is set",
    hint: "Set PULUMI_CONFIG_PASSPHRASE_FILE to the file with the passphrase with which the stack was created. Without this passphrase, no one can read the stack's secrets.",
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
    hint: "Wait until it ends; if its process no longer exists, run `stackadm unlock`.",
  },
  STACK_NOT_FOUND: {
    exitCode: 1,
    sentence: "the backend has no stack with this name",
    hint: "The first line of the command names the backend. Create the stack with `stackadm up --stack <name>`, or set PULUMI_BACKEND_URL to the backend that has its state.",
  },
  WRONG_PROJECT: {
    exitCode: 3,
    sentence: "the cluster is in another project or region than your credentials",
    hint: "Set OS_CLOUD (or OS_PROJECT_NAME, OS_REGION_NAME), or openstack:cloud of the stack, to the cluster's project and region, and run the same command again.",
  },
  PROTECTED: {
    exitCode: 1,
    sentence: "the cluster or a part of it is protected against deletion",
    hint: "Write `protect: false` in its settings and run `stackadm up`; then destroy it.",
    said: [{ text: /^resource "" cannot be deleted$|^unable to replace resource ""$/ }],
  },
  PREFLIGHT_FAILED: {
    exitCode: 3,
    sentence: "the cluster does not fit into the cloud",
    hint: "Nothing was changed. Correct the settings or the cloud, check with `stackadm doctor`, then run the same command again.",
  },
  HOST_KEY_MISMATCH: {
    exitCode: 1,
    sentence: "the machine answers with another host key than the expected one",
    hint: "Nothing was sent to it. Another machine may answer in its place (a man-in-the-middle attack); if you rebuilt the machine by hand, raise its generation.",
    said: [{ of: "command:remote:", text: /host key mismatch|knownhosts: key/ }],
  },
  SSH_AGENT_FAILED: {
    exitCode: 1,
    sentence: "the ssh-agent does not sign, or no longer runs",
    hint: "Unlock the ssh-agent, confirm its question or touch the key. If the agent no longer runs, start one, set SSH_AUTH_SOCK and load the key. `ssh-add -l` lists the loaded keys. Then run the same command again.",
    said: [
      { of: "command:remote:", text: /\bagent: (?:failed to|client error|unsupported) .*/ },
      { of: "command:remote:", text: /dial unix .*/ },
    ],
  },
  SSH_KEY_REFUSED: {
    exitCode: 1,
    sentence: "the machine refuses the login key",
    hint: "Load the key that the stack uses into ssh-agent; `ssh-add -l` lists the loaded keys.",
    said: [
      { of: "command:remote:", text: /unable to authenticate|no supported methods remain/ },
      { of: "command:remote:", text: /[Pp]ermission denied \(publickey/ },
    ],
  },
  QUOTA_EXCEEDED: {
    exitCode: 3,
    sentence: "the project's quota is used up",
    hint: "`stackadm doctor` shows limits and use. Ask for a larger quota or delete unused objects, then run the same command again.",
    said: [
      {
        text: /quota exceeded|exceed(?:s|ed) (?:\S+ ){0,4}quota(?![\w:-]|\.\S)|quota has been met/i,
      },
      { text: /OverQuota|OverLimit/ },
    ],
  },
  AUTH_FAILED: {
    exitCode: 3,
    sentence: "the cloud refused the credentials",
    hint: "Check clouds.yaml or the OS_* variables with `stackadm doctor`.",
    said: [
      {
        of: "openstack:",
        text: /Authentication failed|requires authentication|got 401 instead|\b401\b.* (?:Unauthorized|identity)/,
      },
    ],
  },
  FORBIDDEN: {
    exitCode: 3,
    sentence: "the cloud does not allow this operation with these credentials",
    hint: "Ask the cloud's operator for the role that the operation needs, and run the same command again.",
    said: [
      { of: "openstack:", text: /got 403 instead|Request forbidden: \[|disallowed by policy/ },
    ],
  },
  SERVER_ERROR: {
    exitCode: 1,
    sentence: "Nova could not create the machine",
    hint: "Run the same command again: it replaces the machine.",
    said: [
      { of: "openstack:compute/", text: /unexpected state 'ERROR'|went (?:in)?to ERROR/ },
      { of: "openstack:", text: /No valid host|[Ii]nstance .* in error state/ },
    ],
  },
  SERVER_NEVER_BOOTED: {
    exitCode: 1,
    sentence: "a machine runs, but never answered on SSH: it did not boot, or booted with an error",
    hint: "Run the same command again: it replaces the machine. If the machine only boots slowly, first write a larger `timeoutFactor` or more `ssh.bootMinutes`. If its console says that cloud-init found no data source, the machine can read no config drive (Debian 12 genericcloud on the machine type q35: set hw_cdrom_bus=scsi on the image) and reaches no metadata service. If it has no address, its subnet has no DHCP.",
  },
  SERVER_STOPPED: {
    exitCode: 1,
    sentence: "a machine does not run: it was stopped in the cloud or shut down",
    hint: "Start it (`openstack server start`), then run the same command again: it continues where it stopped.",
  },
  SERVER_SILENT: {
    exitCode: 1,
    sentence:
      "a machine gave no sign of life while a script ran on it, though Nova says that it runs",
    hint: "Read its console (`openstack console log show`) and repair the machine, then run the same command again.",
  },
  NOT_FOUND: {
    exitCode: 1,
    sentence: "the cloud does not have an object that the settings name",
    hint: "Run `stackadm doctor`: it shows the wrong name and the names that the cloud has. Correct the settings and run the same command again.",
    said: [
      {
        of: "openstack:",
        text: /(?:unable to find|could not find|no) (?:flavor|image|network)\b|\b(?:flavor|image|network) .* not found|returned no results/i,
      },
    ],
  },
  NAME_OCCUPIED: {
    exitCode: 1,
    sentence: "an object with this name already exists",
    hint: "`stackadm orphans` lists the objects that an earlier cluster of this name left. Delete them or choose another name.",
    said: [{ text: /[^:]* already exists|AlreadyExists/ }],
  },
  LOAD_BALANCER_ERROR: {
    exitCode: 1,
    sentence: "the load balancer did not become active, or accepts no change",
    hint: "Run the same command again: it deletes a load balancer in ERROR and creates a new one. If that fails, too, check `openstack loadbalancer show` and ask the cloud's operator.",
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
    sentence: "a machine cannot be drained and is left unchanged",
    hint: "Delete these pods or widen their disruption budget, then run the same command again.",
  },
  TEARDOWN_BLOCKED: {
    exitCode: 1,
    sentence: "the cluster cannot release its objects in the cloud",
    hint: "Delete the named objects (the program that set a finalizer has to remove it), then run the same command again.",
  },
  WEBHOOK_FAILED: {
    exitCode: 1,
    sentence: "an admission webhook in the cluster does not answer",
    hint: "Repair the pods of the webhook that the message names, or set `failurePolicy: Ignore` in its configuration, or exclude the namespace `kube-system`; then run the same command again.",
    // The Kubernetes API has answered: the address and the certificate are those of the webhook.
    said: [{ text: /failed calling webhook .*/ }],
  },
  KUBERNETES_LOGIN_REFUSED: {
    exitCode: 1,
    sentence: "the Kubernetes API refuses the credentials of the kubeconfig",
    hint: "Check that the API's address is still this cluster's (`stackadm status`). If the kubeconfig in the state expired, `stackadm up` fetches a new one from a control plane. Then run the same command again.",
    said: [
      { text: /the server has asked for the client to provide credentials/ },
      { of: "kubernetes:", text: /(?:^|: )Unauthorized$/ },
    ],
  },
  KUBERNETES_UNTRUSTED: {
    exitCode: 1,
    sentence: "the certificate of the Kubernetes API cannot be verified",
    hint: "Check the clock of this machine, and that the API's address is still this cluster's and no proxy answers there. If the certificate has expired, renew it on the control plane (`kubeadm certs renew apiserver`). Then run the same command again.",
    said: [
      { text: /(?:Kubernetes cluster is unreachable|schema information).* x509: .*/ },
      { of: "kubernetes:", text: /"https:[^"]*": (?:tls: [^:]*: )?x509: .*/ },
    ],
  },
  KUBERNETES_UNREACHABLE: {
    exitCode: 1,
    sentence: "the Kubernetes API does not answer",
    hint: "Check that your address is in allowedCidrs and, with `stackadm status`, that the control planes run; then run the same command again.",
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
    hint: "Set `cacert` in clouds.yaml (or OS_CACERT) to the file with the certificate of the authority that signed it.",
    said: [{ of: "openstack:", text: /failed to verify certificate: .*|x509: .*/ }],
  },
  CLOUD_BUSY: {
    exitCode: 1,
    sentence: "the cloud limits the rate of requests, and this run exceeded the limit",
    hint: "Set the variable PULUMI_PARALLEL to a smaller number, such as 8, then run the same command again.",
    said: [{ of: "openstack:", text: /got 429 instead|Too [Mm]any [Rr]equests/ }],
  },
  CLOUD_UNREACHABLE: {
    exitCode: 3,
    sentence: "the cloud does not answer",
    hint: "Check with `stackadm doctor` that this machine reaches the cloud's addresses, then run the same command again.",
    said: [
      { of: "openstack:", text: /dial tcp|connection refused|i\/o timeout|got 50[234] instead/ },
      // Texts of gophercloud 1 for the status codes 502, 503 and 504.
      { of: "openstack:", text: /Bad Gateway|service is currently unable|Gateway Timeout/ },
    ],
  },
  KUBERNETES_REFUSED: {
    exitCode: 1,
    sentence: "the Kubernetes API refuses an object",
    hint: "Correct the object that the message names and run the same command again.",
    said: [
      { of: "kubernetes:", text: /was not successfully \w+ by the Kubernetes API server/ },
      { of: "kubernetes:", text: /the apiVersion for this resource does not exist/ },
    ],
  },
  CONFIGURATION_UNDONE: {
    exitCode: 1,
    sentence:
      "a component of Kubernetes does not run with its new configuration; its former one was restored",
    hint: "Correct the argument that the message names and run the same command again.",
  },
  SSH_UNREACHABLE: {
    exitCode: 1,
    sentence: "the machine cannot be reached by SSH",
    hint: "Check that your address is in sshCidrs (by default allowedCidrs) and, with `stackadm status`, that the machine runs; then run the same command again.",
    said: [
      { of: "command:remote:", text: /after \d+ failed attempts|dial tcp/ },
      { of: "command:remote:", text: /connection (?:refused|timed out)|i\/o timeout/ },
    ],
  },
  SCRIPT_MISSING: {
    exitCode: 1,
    sentence: "a machine no longer has the script that has to run, or only a damaged one",
    hint: "Run the same command again: it copies the scripts to the machine again. With plain `pulumi`: `pulumi up --replace` with the URN of the machine's `-scripts`.",
  },
  SFTP_MISSING: {
    exitCode: 1,
    sentence:
      "the machine's SSH server has no SFTP, which is needed to copy scripts to the machine",
    hint: "Use an image whose /etc/ssh/sshd_config has the line `Subsystem sftp internal-sftp`. On a machine that exists, add the line and reload sshd. Then run the same command again.",
    said: [{ of: "command:remote:", text: /subsystem request failed/ }],
  },
  NOT_READY: {
    exitCode: 1,
    sentence: "it did not become ready in time",
    hint: runAgainHint,
    said: [
      {
        text: /failed to fully initialize or become live|timed out waiting|timeout while waiting| not ready/i,
      },
    ],
  },
  COMMAND_FAILED: {
    exitCode: 1,
    sentence: "the script on the machine failed",
    hint: "Its output is above. Run the same command again: scripts continue where they stopped.",
    // Text of Pulumi's command plugin for a script that printed no reason before it ended, for
    // example because the script was killed.
    said: [{ of: "command:", text: /Process exited with status \d+|exit status \d+/ }],
  },
  VERIFY_FAILED: {
    exitCode: 5,
    sentence: "the cluster was created, but not everything in it works",
    hint: "`stackadm status` checks again; `kubectl -n kube-system get pods` shows the system's pods. If a service does not answer, check that your address is in `serviceCidrs`.",
  },
  UNEXPECTED_CHANGES: {
    exitCode: 6,
    sentence: "the cluster differs from its settings, and no change was expected",
    hint: "`stackadm preview` shows what would change, `stackadm up` changes it.",
    said: [{ text: /no changes were expected but changes (?:occurred|were proposed)/ }],
  },
  ENGINE_KILLED: {
    exitCode: 1,
    sentence: "the engine ended without a result",
    hint: "Run the same command again: it repairs what was left unfinished and continues.",
  },
  CANCELLED: {
    exitCode: 130,
    sentence: "the operation was stopped on request; what was done is kept",
    hint: "Run the same command again to continue.",
  },
  FAILED: {
    exitCode: 1,
    sentence: "another failure, which the message describes",
    hint: "Correct the cause and run the same command again.",
  },
} as const satisfies Readonly<Record<string, FailureRow>>;

export type FailureCode = keyof typeof failures;

/** Codes of all failures. Causes come before their consequences. */
export const failureCodes = Object.keys(failures) as readonly FailureCode[];

export const getFailureRow = (code: FailureCode): FailureRow => failures[code];

export const isFailureCode = (text: string): text is FailureCode => Object.hasOwn(failures, text);
