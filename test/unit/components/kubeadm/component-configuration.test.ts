import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "yaml";
import { getPackageRoot } from "../../../../base/paths.js";
import { toYaml } from "../../../../base/yaml.js";
import { parseClusterSpec, type ClusterArgs } from "../../../../components/config/cluster-spec.js";
import {
  renderApiServerFiles,
  renderClusterConfiguration,
  buildClusterConfigurationBlocks,
  buildKubeletConfiguration,
  renderKubeletConfiguration,
  renderKubeProxyConfiguration,
} from "../../../../components/kubeadm/component-configuration.js";
import { mergeKubeletFields } from "../../../../components/kubeadm/hardening.js";
import { smallest } from "../../../support/config/spec.js";

type Written = NonNullable<ClusterArgs["kubernetes"]>;

const kubernetes = (written: Written = {}) => {
  const result = parseClusterSpec({ ...smallest, kubernetes: written });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec.kubernetes;
};

type Component = "apiServer" | "controllerManager" | "scheduler";

const flagsOf = (written: Written, component: Component = "apiServer") => {
  const { extraArgs } = buildClusterConfigurationBlocks(kubernetes(written))[component] as {
    extraArgs: { name: string; value: string }[];
  };
  const flags: Record<string, string[]> = {};
  for (const { name, value } of extraArgs) (flags[name] ??= []).push(value);
  return flags;
};

const filesOf = (written: Written): Record<string, unknown> =>
  Object.fromEntries(
    renderApiServerFiles(kubernetes(written))
      .split("\n")
      .map((line) => {
        const [name = "", data = ""] = line.split(" ");
        return [name.replace(/-[0-9a-f]{12}/, ""), Buffer.from(data, "base64").toString()];
      }),
  );

const certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
const oidc = { issuerUrl: "https://id.example.org", clientId: "kubernetes" };

describe("component configuration", () => {
  it("is empty for kubelet and kube-proxy by default, so that no script runs", () => {
    assert.equal(renderKubeletConfiguration(mergeKubeletFields(kubernetes())), "");
    assert.equal(renderKubeProxyConfiguration({}), "");
  });

  it("resets kubelets to the default text after the user removes all fields", () => {
    const scripts = join(getPackageRoot(), "components", "kubeadm", "scripts");
    const script = readFileSync(join(scripts, "kubelet-configuration.sh"), "utf8");
    const [, plain] = /^readonly default_kubelet_configuration='([^']*)'$/m.exec(script) ?? [];
    assert.equal(plain, toYaml(buildKubeletConfiguration({})));
  });

  it("omits the report frequency if the user sets the status update frequency", () => {
    const own = buildKubeletConfiguration({ nodeStatusUpdateFrequency: "20s" });
    assert.equal(own["nodeStatusUpdateFrequency"], "20s");
    assert.ok(!("nodeStatusReportFrequency" in own));
  });

  it("lists flags as kubeadm does, sorted, one entry per value", () => {
    const extraArgs = { v: 2, "tls-cipher-suites": ["a", "b"], profiling: true, config: "/x" };
    const turned = Object.fromEntries(Object.entries(extraArgs).reverse());
    const blocks = buildClusterConfigurationBlocks(kubernetes({ scheduler: { extraArgs } }));
    assert.deepEqual(blocks["scheduler"], {
      extraArgs: [
        { name: "config", value: "/x" },
        { name: "profiling", value: "true" },
        { name: "tls-cipher-suites", value: "a" },
        { name: "tls-cipher-suites", value: "b" },
        { name: "v", value: "2" },
      ],
    });
    assert.deepEqual(
      buildClusterConfigurationBlocks(kubernetes({ scheduler: { extraArgs: turned } })),
      blocks,
    );
  });

  it("keeps every flag's text for readers of YAML 1.1 and 1.2", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Component>("apiServer", "controllerManager", "scheduler"),
        fc.oneof(fc.string(), fc.constantFrom("off", "0x1f", "1_000", "1:30", "~", "=", "no")),
        (component, value) => {
          const text = renderClusterConfiguration(
            kubernetes({ [component]: { extraArgs: { v: value } } }),
          );
          for (const version of ["1.1", "1.2"] as const)
            assert.deepEqual(
              (parse(text, { version }) as Record<Component, { extraArgs: { name: string }[] }>)[
                component
              ].extraArgs.filter(({ name }) => name === "v"),
              [{ name: "v", value }],
            );
        },
      ),
    );
  });

  it("keeps a flag's text within its block, because scripts replace blocks by their first column", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "\n", " ", ":", "-") }), (value) => {
        const text = renderClusterConfiguration(
          kubernetes({ scheduler: { extraArgs: { v: value } } }),
        );
        const first = text.split("\n").filter((line) => /^[^ ]/.test(line));
        assert.deepEqual(first, ["apiServer:", "controllerManager:", "scheduler:"]);
      }),
    );
  });

  it("sets the certificates' validity in Go's notation", () => {
    const certificates = { validity: "720h", authorityValidity: "43800h" };
    const blocks = buildClusterConfigurationBlocks(kubernetes({ certificates }));
    assert.equal(blocks["certificateValidityPeriod"], "720h0m0s");
    assert.equal(blocks["caCertificateValidityPeriod"], "43800h0m0s");
  });

  it("sets the OIDC issuer's flags, with its authority in a mounted file", () => {
    const flags = flagsOf({ oidc: { ...oidc, groupsClaim: "groups", ca: certificate } });
    assert.deepEqual(flags["oidc-issuer-url"], ["https://id.example.org"]);
    assert.deepEqual(flags["oidc-groups-claim"], ["groups"]);
    assert.equal(flags["oidc-username-claim"], undefined);
    const written = { oidc: { ...oidc, ca: certificate } };
    assert.equal(filesOf(written)["oidc-ca.crt"], `${certificate}\n`);
    const [path = ""] = flags["oidc-ca-file"] ?? [];
    assert.match(path, /^\/etc\/kubernetes\/stackadm\/oidc-ca-/);
    assert.match(renderApiServerFiles(kubernetes(written)), new RegExp(`^${path.slice(25)} `, "m"));
  });

  it("mounts the directory only if the API server has files", () => {
    const none = {
      oidc,
      audit: { enabled: false },
      apiServer: { extraArgs: { "admission-control-config-file": "/etc/mine.yaml" } },
    };
    assert.doesNotMatch(renderClusterConfiguration(kubernetes(none)), /extraVolumes/);
    const volumes = (written: Written): unknown[] => {
      const { apiServer } = buildClusterConfigurationBlocks(kubernetes(written)) as {
        apiServer: { extraVolumes: { name: string }[] };
      };
      return apiServer.extraVolumes.map(({ name }) => name);
    };
    const own = { ...none, oidc: { ...oidc, ca: certificate } };
    assert.deepEqual(volumes(own), ["stackadm-files"]);
    assert.deepEqual(volumes({}), ["stackadm-files", "audit-log"]);
  });

  it("sets Keystone's webhook with its authority, and authorization by webhook only with rules", () => {
    const written = {
      keystone: {},
      audit: { enabled: false },
      apiServer: {
        extraArgs: {
          "authorization-mode": "Node,RBAC",
          profiling: "false",
          "admission-control-config-file": "/etc/mine.yaml",
        },
      },
    };
    const webhook = { ...kubernetes(written), webhookCertificate: certificate };
    const flags = new Map(
      (
        buildClusterConfigurationBlocks(webhook) as {
          apiServer: { extraArgs: { name: string; value: string }[] };
        }
      ).apiServer.extraArgs.map(({ name, value }) => [name, value]),
    );
    assert.deepEqual(
      [...flags.keys()],
      [
        "admission-control-config-file",
        "authentication-token-webhook-config-file",
        "authentication-token-webhook-version",
        "authorization-mode",
        "profiling",
      ],
    );
    assert.equal(flags.get("authorization-mode"), "Node,RBAC");
    assert.match(renderClusterConfiguration(webhook), /name: stackadm-files/);
    const [name = "", data = ""] = renderApiServerFiles(webhook).split(" ");
    const path = flags.get("authentication-token-webhook-config-file");
    assert.equal(path, `/etc/kubernetes/stackadm/${name}`);
    const { clusters } = parse(Buffer.from(data, "base64").toString()) as {
      clusters: { cluster: Record<string, string> }[];
    };
    assert.deepEqual(clusters[0]?.cluster, {
      server: "https://127.0.0.1:8443/webhook",
      "certificate-authority-data": Buffer.from(certificate).toString("base64"),
    });

    const policy = [{ projects: ["demo"] }];
    const ruled = { ...kubernetes({ keystone: { policy } }), webhookCertificate: certificate };
    assert.match(renderClusterConfiguration(ruled), /value: Node,RBAC,Webhook/);
    assert.match(
      renderClusterConfiguration(ruled),
      new RegExp(`webhook-config-file\n +value: ${path}`),
    );
  });

  it("names the audit policy's file by its content, so that a new policy restarts the API server", () => {
    const rules = { rules: [{ level: "Request" }] };
    const [metadata, requests] = [{}, { policy: rules }].map((audit) => flagsOf({ audit }));
    assert.notDeepEqual(metadata?.["audit-policy-file"], requests?.["audit-policy-file"]);
    assert.deepEqual(metadata?.["audit-log-maxsize"], ["100"]);
    assert.deepEqual(metadata["audit-log-maxage"], ["30"]);
    const written = filesOf({ audit: { policy: rules } })["audit-policy.yaml"] as string;
    assert.deepEqual(parse(written), {
      ...rules,
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
    });
  });

  it("refuses flags and fields that another setting or kubeadm owns, with what to write", () => {
    const messages = (written: object): string[] => {
      const result = parseClusterSpec({ ...smallest, kubernetes: written });
      return "problems" in result
        ? result.problems.map(({ path, message }) => `${path}: ${message}`)
        : [];
    };
    const extraArgs = {
      "service-cluster-ip-range": "10.0.0.0/8",
      "oidc-issuer-url": "x",
      "audit-log-path": "-",
      "advertise-address": "10.0.0.1",
      "--v": 2,
      "etcd-count-metric-poll-period": "0",
      "oidc-signing-algs": "RS256",
    };
    const path = "cluster.kubernetes.apiServer.extraArgs";
    assert.deepEqual(messages({ apiServer: { extraArgs } }), [
      `${path}.service-cluster-ip-range: comes from another setting; write network.services instead`,
      `${path}.oidc-issuer-url: comes from another setting; write kubernetes.oidc instead`,
      `${path}.audit-log-path: comes from another setting; write kubernetes.audit instead`,
      `${path}.advertise-address: is the machine's own address; leave it out`,
      `${path}.--v: is not the name of a flag; write it without dashes before it, in small letters`,
    ]);
    assert.deepEqual(messages({ controllerManager: { extraArgs: { "cluster-cidr": "x" } } }), [
      "cluster.kubernetes.controllerManager.extraArgs.cluster-cidr: comes from another setting; write network.pods instead",
    ]);
    assert.deepEqual(messages({ kubelet: { staticPodPath: "/x" }, kubeProxy: { kind: "x" } }), [
      "cluster.kubernetes.kubelet.staticPodPath: is where the control plane's pods are; leave it out",
      "cluster.kubernetes.kubeProxy.kind: is kubeadm's; leave it out",
    ]);
    assert.match(
      messages({ scheduler: { extraArgs: { v: {} } } }).join(),
      /is not a flag's value; write text, a number, true, false or a list of them/,
    );
    assert.match(messages({ audit: { policy: "all" } }).join(), /is not an audit policy; write/);
    assert.match(messages({ certificates: { validity: "1y" } }).join(), /write hours, like 8760h/);
  });
});
