import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  controlPlanePrograms,
  controlPlaneVariables,
  teardownVariables,
  joinVariables,
  leaveVariables,
} from "../../components/kubeadm/node-scripts.js";
import {
  etcdClientCertificateVariables,
  etcdQuorumVariables as etcdLeaveValues,
  etcdMachinePrograms,
  etcdMemberVariables,
} from "../../components/etcd/member-scripts.js";
import { isFailureCode } from "../../base/failures/failure-codes.js";
import { getIpv6ScriptValues } from "../../components/machine/ipv6-script.js";
import { preparationVariables } from "../../components/machine/preparation.js";
import { nonEmpty } from "../support/non-empty.js";

const root = join(__dirname, "..", "..");
const scripts = execFileSync("git", ["ls-files", "*.sh"], { cwd: root, encoding: "utf8" })
  .trim()
  .split("\n")
  .filter((file) => /^(components|automation)\//.test(file));

/** Returns the variables that a script uses but never sets: its values. */
const wanted = (file: string): string[] => {
  const text = readFileSync(join(root, file), "utf8");
  const used = [...text.matchAll(/\$\{?!?([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name ?? "");
  const set = [...text.matchAll(/(?:^|[\s;])(?:local |readonly |export )?([A-Z][A-Z0-9_]+)=/gm)];
  const own = [
    "SECONDS",
    "ARGV", // variable of perl
    "NF", // variable of awk
    "KUBECONFIG",
    "SERVER_ID",
    "SSH_ORIGINAL_COMMAND",
    ...set.map(([, name]) => name ?? ""),
  ];
  return [...new Set(used.filter((name) => !own.includes(name)))].sort();
};

/**
 * Limits that are independent of the machine's speed: two limit the measurement of that speed, and
 * one is the interval of reports about a drain.
 */
const fixedBounds = [
  'timeout 60 python3 -c "$loop_time"',
  'timeout 20 python3 -c "$sync_latency"',
  'timeout 30 tail --pid "$child"',
  // A timer repeats approve-kubelet-certificates.sh.
  "SECONDS + 3600))",
];

describe("a machine script", () => {
  it("uses only failure codes of the table", () => {
    const codes = scripts.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/^[^#\n]*\bdie_as (\w+)/gm)].map(
        ([, code = ""]) => ({ file, code }),
      ),
    );
    for (const { file, code } of nonEmpty(codes))
      assert.ok(isFailureCode(code), `${file}: ${code}`);
  });

  for (const file of scripts) {
    it(`scales time limits by the timeout factor: ${file}`, () => {
      const text = readFileSync(join(root, file), "utf8");
      const bounds = [
        ...text.matchAll(
          /^[^#\n]*?((?<!-)\btimeout (?:\d|"?\$[a-z])[^\n]*|--max-time 3\b|(?:ConnectTimeout|TimeoutStartSec|RuntimeMaxSec)="?(?:\d|\$[a-z])|flock (?:-w|--wait) "?(?:\d|\$[a-z])|SECONDS \+ [^*\n]*?\)\))/gm,
        ),
      ];
      const fixed = bounds.filter(
        ([, bound = ""]) => !fixedBounds.some((one) => bound.startsWith(one)),
      );
      assert.deepEqual(
        fixed.map(([, bound]) => bound),
        [],
      );
    });

    it(`exposes no secret and has no endless loop: ${file}`, () => {
      const text = readFileSync(join(root, file), "utf8");
      assert.doesNotMatch(text, /set -[a-z]*x|\bexport [A-Z_]*(TOKEN|KEY|SECRET)/);
      assert.doesNotMatch(text, /\bwhile (true|:)/);
    });
  }

  const joining = ["machine/scripts/request-join-credentials.sh", "kubeadm/scripts/api-name.sh"];
  const kubelet = [
    "machine/scripts/restart-with-rollback.sh",
    "machine/scripts/configure-kubelet.sh",
  ];
  const packages = "machine/scripts/prepare/kubernetes-packages.sh";
  const version = [
    packages,
    "machine/scripts/change-version.sh",
    "machine/scripts/change-containerd.sh",
  ];
  const upgrade = [...version, "kubeadm/scripts/upgrade-node.sh"];
  const asking = "machine/scripts/request-join-credentials.sh";
  const takeBack = "kubeadm/scripts/undo-teardown.sh";
  const releasing = [takeBack, "kubeadm/scripts/cloud-object-release.sh"];
  const offer = "machine/scripts/allow-join-requests.sh";
  const controlPlane = [
    "kubeadm/scripts/immutable-values.sh",
    "kubeadm/scripts/api-server-certificate.sh",
    "kubeadm/scripts/install-certificate-renewal.sh",
    "kubeadm/scripts/install-encryption.sh",
    "kubeadm/scripts/static-pod-health.sh",
    "kubeadm/scripts/control-plane-configuration.sh",
    "kubeadm/scripts/coredns-image.sh",
    "kubeadm/scripts/kubelet-configuration.sh",
    "kubeadm/scripts/install-kubelet-certificate-approver.sh",
    "kubeadm/scripts/kube-proxy-configuration.sh",
    "kubeadm/scripts/upgrade-control-plane.sh",
    offer,
    "kubeadm/scripts/install-labels-and-taints.sh",
    takeBack,
    "endpoint/virtual-ip.sh",
    "kubeadm/scripts/steps/control-plane.sh",
  ];
  const contracts = [
    [
      "prepare",
      preparationVariables,
      [
        ...[
          "repository-keys",
          "mount-volumes",
          "check-host",
          "measure-disk-latency",
          "trust-cloud-ca",
        ],
        ...["proxy", "containerd-registries", "prepare", "containerd-package", "fetch-containerd"],
        ...[
          "kubernetes-packages",
          "../authorized-keys",
          "../silent-channels",
          "../security-updates",
        ],
      ].map((name) => `machine/scripts/prepare/${name}.sh`),
    ],
    [
      "ipv6",
      Object.keys(getIpv6ScriptValues({ nodes: "", pods: "" })),
      ["machine/scripts/ipv6.sh"],
    ],
    [
      "control-plane",
      [...controlPlaneVariables, ...Object.keys(controlPlanePrograms)],
      [...joining, ...kubelet, ...upgrade, ...controlPlane],
    ],
    [
      "member",
      [...etcdMemberVariables, ...Object.keys(etcdMachinePrograms)],
      [asking, offer, ...version, "etcd/scripts/upgrade-etcd.sh", "etcd/scripts/etcd-member.sh"],
    ],
    ["client", etcdClientCertificateVariables, [asking, "etcd/scripts/client-certificate.sh"]],
    ["leave of etcd", etcdLeaveValues, ["etcd/scripts/check-etcd-quorum.sh"]],
    [
      "join",
      joinVariables,
      [...joining, ...kubelet, ...upgrade, "kubeadm/scripts/steps/join-node.sh"],
    ],
    ["leave", leaveVariables, ["kubeadm/scripts/steps/remove-node.sh"]],
    [
      "teardown",
      teardownVariables,
      [...releasing, "kubeadm/scripts/steps/release-cluster-objects.sh"],
    ],
    ["snapshots", [], [...releasing, "kubeadm/scripts/steps/release-snapshots.sh"]],
    [
      "bastion",
      ["LOGIN_USER", "LOGIN_KEYS", "REVOKED_KEYS", "SECURITY_UPDATES"],
      [
        "machine/scripts/authorized-keys.sh",
        "machine/scripts/silent-channels.sh",
        "machine/scripts/security-updates.sh",
        "access/bastion-logins-and-updates.sh",
      ],
    ],
  ] as const;
  for (const [step, values, files] of contracts) {
    it(`reads exactly the values that the program provides: ${step}`, () => {
      const known: readonly string[] = values;
      const paths = files.map((file) => `components/${file}`);
      const missing = paths.flatMap(wanted).filter((name) => !known.includes(name));
      assert.deepEqual(missing, []);
      const text = paths.map((path) => readFileSync(join(root, path), "utf8")).join("\n");
      assert.deepEqual(
        known.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
        [],
      );
    });
  }
});
