import { deriveSshKey } from "../../../../components/identity/derived-ssh-keys.js";
import { joinUser } from "../../../../components/identity/join-certificate.js";
import { renderShellAssignments } from "../../../../components/remote-scripts/shell-quoting.js";
import type { Fields, Row } from "../../../../test/support/graph/graph.js";
import { readSentScript } from "../../../../test/support/graph/sent.js";
import type { SshHop } from "../bare/run-without-engine.js";
import { getResultPath, type RandomValues } from "./registered-resources.js";
import type { TerraformPlaceholders } from "./references.js";
import { getTerraformLabel } from "./resources.js";

/*
 * Renders the program's scripts for Terraform. Each script is a `terraform_data` resource with a
 * provisioner that sends the script over SSH. The output of each script is saved to a file, because
 * Terraform's provisioners cannot return a value.
 */

/** Map from a path to the content of a file that is written next to `main.tf.json`. */
export type TerraformFiles = Map<string, string>;

/** Values that are needed to render scripts, and the files that rendering adds. */
export interface ScriptResourceContext {
  readonly references: TerraformPlaceholders;
  readonly drawn: RandomValues;
  readonly files: TerraformFiles;
}

const endMark = "STACKADM_INPUT";
const local = (file: string): string => `\${path.module}/${file}`;

/** Returns shell commands that pass `input` to a command's standard input. */
const renderStdinCommand = (command: string, input: string, into = "/dev/null"): string =>
  `umask 077\n${command} >${into} <<'${endMark}'\n${input}\n${endMark}`;

export function getTerraformConnection({ host, user, hostKey, proxy }: SshHop): Fields {
  const to = { type: "ssh", host, user, agent: true };
  // With a bastion, Terraform compares `host_key` with the key of the machine behind the bastion.
  // So no host key is set, and Terraform verifies no key.
  return proxy
    ? { ...to, bastion_host: proxy.host, bastion_user: proxy.user }
    : { ...to, host_key: hostKey };
}

const hopOf = ({ inputs }: Row): SshHop => inputs["connection"] as SshHop;

/**
 * Returns the values, the file and the command of a script. Scripts with the same text share a
 * file.
 */
function split(
  { inputs }: Row,
  { files }: ScriptResourceContext,
): { readonly values: string; readonly file: string; readonly command: string } {
  const { step, occasion, values } = readSentScript(inputs);
  const file = `scripts/${step.name}-${step.digest}.sh`;
  files.set(file, step.text);
  return { values: renderShellAssignments(values), file, command: `sudo -n bash -s ${occasion}` };
}

/**
 * Certificate with which a machine joins. The certificate contains the ID of the server. So a
 * provisioner signs the certificate after the server is created.
 */
interface Certificate {
  /** Values of the script. The script's value for the certificate is read from a file. */
  readonly values: string;
  readonly provisioners: readonly Fields[];
}

const certificateLine = /^JOIN_CERTIFICATE='\S+ (\S+) (\S+)'$/m;
const forced = /sudo -n \S+ \S+ (\S+) (ref\.\S+\.id) (198\.18\.\d+\.\d+) "\$SSH_ORIGINAL_COMMAND"/;

function getCertificateProvisioner(
  values: string,
  row: string,
  { files, drawn, references }: ScriptResourceContext,
): Certificate {
  const [line, blob = "", purpose = ""] = certificateLine.exec(values) ?? [];
  if (line === undefined) return { values: references.template(values), provisioners: [] };
  const [command = "", machine = "", , address = ""] =
    forced.exec(Buffer.from(blob, "base64").toString("latin1")) ?? [];
  if (command === "") throw new Error(`${row}: its certificate says something else than it did.`);
  files.set("keys/signer", deriveSshKey(drawn.seed, "join-signer").privateKey);
  files.set(`keys/${row}.pub`, `${deriveSshKey(drawn.seed, purpose).publicKey} ${purpose}\n`);
  const sign = [
    `ssh-keygen -q -s keys/signer -I ${machine} -n ${joinUser} -V always:forever -O clear`,
    references.template(`-O 'force-command=${command}' -O source-address=${address}`),
  ].join(" ");
  const key = "work/${self.id}.pub";
  const made = `\${trimspace(file("${local("work/${self.id}-cert.pub")}"))}`;
  const [before = "", after = ""] = values.split(line).map((one) => references.template(one));
  return {
    values: `${before}JOIN_CERTIFICATE='${made}'${after}`,
    provisioners: [{ "local-exec": { command: `cp keys/${row}.pub ${key} && ${sign} ${key}` } }],
  };
}

/** Returns a provisioner that copies a step's output from its machine. */
function getOutputCopyProvisioner(
  row: string,
  { host, user, hostKey }: SshHop,
  { files, references }: ScriptResourceContext,
): Fields {
  files.set(`keys/${row}.known_hosts`, `* ${hostKey}\n`);
  const options = [
    "-o BatchMode=yes -o StrictHostKeyChecking=yes -o GlobalKnownHostsFile=/dev/null",
    `-o UserKnownHostsFile=keys/${row}.known_hosts`,
  ].join(" ");
  const from = references.template(`${user}@${host}`);
  return {
    "local-exec": { command: `ssh ${options} ${from} cat ${row}.json >${getResultPath("self")}` },
  };
}

/** Returns the Terraform resource of a script that runs at creation. */
export function getCreationResource(row: Row, bench: ScriptResourceContext): Fields {
  const { references } = bench;
  const label = getTerraformLabel(row.name);
  const { values: given, file, command } = split(row, bench);
  const [, server = ""] = /^SERVER_ID='(.*)'$/m.exec(given) ?? [];
  const { values, provisioners } = getCertificateProvisioner(given, label, bench);
  const says = label.endsWith("-init");
  const script = renderStdinCommand(
    command,
    `${values}\${file("${local(file)}")}`,
    says ? `${label}.json` : undefined,
  );
  return {
    triggers_replace: [references.template(server)],
    connection: references.render(getTerraformConnection(hopOf(row))),
    provisioner: [
      ...provisioners,
      { "remote-exec": { inline: [script] } },
      ...(says ? [getOutputCopyProvisioner(label, hopOf(row), bench)] : []),
    ],
  };
}

/**
 * Returns the Terraform resource of a script that runs at deletion. A destroy-time provisioner can
 * refer only to `self`, so the resource stores the host and the script's values in `input`.
 */
export function getDeletionResource(row: Row, bench: ScriptResourceContext): Fields {
  const { references } = bench;
  const { values, file, command } = split(row, bench);
  const { host, ...way } = getTerraformConnection(hopOf(row));
  return {
    input: references.render({ host, values }),
    provisioner: [
      {
        "remote-exec": {
          when: "destroy",
          connection: { ...way, host: "${self.input.host}" },
          inline: [renderStdinCommand(command, `\${self.input.values}\${file("${local(file)}")}`)],
        },
      },
    ],
  };
}

const applying = `sudo -n timeout 120 sh -c 'until kubectl --kubeconfig /etc/kubernetes/admin.conf \
apply --server-side --force-conflicts -f objects.json; do sleep 1; done'`;

/**
 * Returns the resource that applies all objects by `kubectl apply` on the first control plane.
 * Retries the command, because the API fails while etcd adds members.
 */
export const getApplyObjectsResource = (
  hop: SshHop,
  { references }: ScriptResourceContext,
): Fields => ({
  triggers_replace: ["${sha256(local.objects)}"],
  connection: references.render(getTerraformConnection(hop)),
  provisioner: [
    {
      "remote-exec": {
        inline: [renderStdinCommand("cat", "${local.objects}", "objects.json"), applying],
      },
    },
  ],
});
