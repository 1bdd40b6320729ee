import { strict as assert } from "node:assert";
import { parse, parseAllDocuments } from "yaml";
import { buildClusterConfigurationBlocks } from "../../../../components/kubeadm/component-configuration.js";
import {
  renderInitDocuments,
  renderJoinDocument,
  joinDocumentPlaceholders,
  type InitSettings,
  type JoinSettings,
  type NodeFacts,
} from "../../../../components/kubeadm/kubeadm-documents.js";
import { specOf } from "../../../support/config/spec.js";
import { golden } from "../../../support/golden.js";

const node: NodeFacts = {
  name: "dev-control-plane-0",
  serverId: "0b1c2d3e-0000-4000-8000-000000000001",
  address: "10.0.0.7",
};

const settings: InitSettings = {
  clusterName: "dev",
  version: "1.36.3",
  imageRepository: "registry.k8s.io",
  pods: ["10.244.0.0/16"],
  services: ["10.96.0.0/12"],
  endpoint: "api.dev.internal:6443",
  certificateNames: ["api.dev.internal", "203.0.113.7"],
  cloudController: true,
  ignorePreflightErrors: [],
  blocks: {},
  kubelet: {},
  kubeProxy: {},
};

const join: JoinSettings = {
  endpoint: "api.dev.internal:6443",
  grant: "token",
  cloudController: true,
  ignorePreflightErrors: ["Swap"],
};

type Fields = Record<string, unknown>;

const document = (kind: string, over: Partial<InitSettings> = {}): Fields => {
  const found = parseAllDocuments(renderInitDocuments(node, { ...settings, ...over }))
    .map((each) => each.toJS() as Fields)
    .find((each) => each["kind"] === kind);
  assert.ok(found, kind);
  return found;
};

const kubeletArguments = (fields: Fields): Record<string, string> => {
  const registration = fields["nodeRegistration"] as {
    kubeletExtraArgs: { name: string; value: string }[];
  };
  return Object.fromEntries(registration.kubeletExtraArgs.map(({ name, value }) => [name, value]));
};

describe("kubeadm documents", () => {
  it("set only the image prefix, so that kubeadm chooses the path of CoreDNS", () => {
    const { imageRepository, dns } = document("ClusterConfiguration", {
      imageRepository: "r.example/k8s",
      blocks: buildClusterConfigurationBlocks(specOf().kubernetes),
    });
    // kubeadm then pulls r.example/k8s/coredns, as docs/set-up/container-images.md says.
    assert.deepEqual([imageRepository, dns], ["r.example/k8s", undefined]);
  });

  it("contain both IP families of a dual-stack cluster, IPv4 first", () => {
    const both = {
      pods: [...settings.pods, "fd00:10:244::/56"],
      services: [...settings.services, "fd00:10:96::/112"],
    };
    assert.deepEqual(document("ClusterConfiguration", both)["networking"], {
      podSubnet: "10.244.0.0/16,fd00:10:244::/56",
      serviceSubnet: "10.96.0.0/12,fd00:10:96::/112",
    });
    const dual = { ...node, ipv6Address: "fd00:10::f816:3eff:fe00:1" };
    const made = parse(renderJoinDocument(dual, join)) as Fields;
    assert.equal(kubeletArguments(made)["node-ip"], "10.0.0.7,fd00:10::f816:3eff:fe00:1");
    assert.equal(
      kubeletArguments(parse(renderJoinDocument(node, join)) as Fields)["node-ip"],
      "10.0.0.7",
    );
  });

  it("match the reviewed texts", () => {
    golden("kubeadm-init.yaml", renderInitDocuments(node, settings));
    golden(
      "kubeadm-join.yaml",
      renderJoinDocument({ ...node, name: "dev-general-0", pool: "general" }, join),
    );
  });

  it("use the API version that has lists of arguments", () => {
    for (const kind of ["InitConfiguration", "ClusterConfiguration"])
      assert.equal(document(kind)["apiVersion"], "kubeadm.k8s.io/v1beta4");
    assert.equal(
      (parse(renderJoinDocument(node, join)) as Fields)["apiVersion"],
      "kubeadm.k8s.io/v1beta4",
    );
  });

  it("set the kubelet's server ID and address", () => {
    const expected = {
      "cloud-provider": "external",
      "provider-id": `openstack:///${node.serverId}`,
      "node-ip": "10.0.0.7",
    };
    assert.deepEqual(kubeletArguments(document("InitConfiguration")), expected);
    assert.deepEqual(kubeletArguments(parse(renderJoinDocument(node, join)) as Fields), expected);
  });

  it("omit the uninitialized taint without a cloud controller, which would remove it", () => {
    const alone = { cloudController: false };
    for (const fields of [
      document("InitConfiguration", alone),
      parse(renderJoinDocument(node, { ...join, ...alone })) as Fields,
    ]) {
      assert.equal(kubeletArguments(fields)["cloud-provider"], undefined);
      assert.equal(kubeletArguments(fields)["provider-id"], `openstack:///${node.serverId}`);
    }
  });

  it("quote a cluster name that YAML 1.1, which kubeadm reads, takes for another type", () => {
    for (const clusterName of ["off", "on", "yes", "no", "y", "n", "null", "0x1f", "1e3", "010"]) {
      const [, cluster] = parseAllDocuments(
        renderInitDocuments(node, { ...settings, clusterName }),
        {
          version: "1.1",
        },
      ).map((each) => each.toJS() as Fields);
      assert.equal(cluster?.["clusterName"], clusterName);
    }
  });

  it("label the nodes of a pool", () => {
    const fields = parse(renderJoinDocument({ ...node, pool: "general" }, join)) as Fields;
    assert.equal(kubeletArguments(fields)["node-labels"], "stackadm.io/pool=general");
  });

  it("use the API's name, and put name and external address into the certificate", () => {
    assert.deepEqual(document("ClusterConfiguration")["apiServer"], {
      certSANs: ["api.dev.internal", "203.0.113.7"],
    });
    assert.equal(document("ClusterConfiguration")["controlPlaneEndpoint"], "api.dev.internal:6443");
  });

  it("contain the blocks of the settings and the names in the certificate", () => {
    const extraArgs = [{ name: "v", value: "2" }];
    const blocks = {
      apiServer: { extraArgs },
      scheduler: { extraArgs },
      certificateValidityPeriod: "720h0m0s",
    };
    const cluster = document("ClusterConfiguration", { blocks });
    assert.deepEqual(cluster["apiServer"], { certSANs: settings.certificateNames, extraArgs });
    assert.deepEqual(cluster["scheduler"], { extraArgs });
    assert.equal(cluster["certificateValidityPeriod"], "720h0m0s");
  });

  it("name the patch directory only if patches exist, because kubeadm refuses a missing directory", () => {
    const patches = { directory: "/etc/kubernetes/stackadm-patches" };
    const joined = { ...join, grant: "certificates" } as const;
    assert.deepEqual(document("InitConfiguration", { patches })["patches"], patches);
    assert.deepEqual(
      (parse(renderJoinDocument(node, { ...joined, patches })) as Fields)["patches"],
      patches,
    );
    assert.equal(document("InitConfiguration")["patches"], undefined);
    assert.equal((parse(renderJoinDocument(node, joined)) as Fields)["patches"], undefined);
  });

  it("limit the token of `kubeadm init` to one minute and do not print it", () => {
    const init = document("InitConfiguration");
    assert.deepEqual(init["bootstrapTokens"], [{ ttl: "1m0s", description: "kubeadm init" }]);
    assert.deepEqual(init["skipPhases"], ["show-join-command"]);
  });

  it("set no flag that the API server no longer has", () => {
    assert.doesNotMatch(renderInitDocuments(node, settings), /apiServer:[\s\S]*cloud-provider/);
  });

  it("name an image repository only if the site has one", () => {
    assert.equal(document("ClusterConfiguration")["imageRepository"], undefined);
    const own = document("ClusterConfiguration", { imageRepository: "mirror.example/k8s" });
    assert.equal(own["imageRepository"], "mirror.example/k8s");
  });

  it("prefer the site's settings of kubelet and kube-proxy", () => {
    const kubelet = { cgroupDriver: "cgroupfs", failCgroupV1: false };
    const kubeProxy = { mode: "iptables", conntrack: { maxPerCore: 0 } };
    const found = document("KubeletConfiguration", { kubelet });
    assert.deepEqual([found["cgroupDriver"], found["failCgroupV1"]], ["cgroupfs", false]);
    assert.deepEqual(document("KubeProxyConfiguration", { kubeProxy })["conntrack"], {
      maxPerCore: 0,
    });
    assert.equal(document("KubeletConfiguration")["cgroupDriver"], "systemd");
  });

  it("contain placeholders for a join's token and the cluster's authority", () => {
    assert.deepEqual((parse(renderJoinDocument(node, join)) as Fields)["discovery"], {
      bootstrapToken: {
        apiServerEndpoint: "api.dev.internal:6443",
        token: joinDocumentPlaceholders.token,
        caCertHashes: [joinDocumentPlaceholders.caCertHash],
      },
    });
    assert.equal((parse(renderJoinDocument(node, join)) as Fields)["controlPlane"], undefined);
  });

  it("set another control plane's address, with a placeholder for the certificate key", () => {
    const fields = parse(renderJoinDocument(node, { ...join, grant: "certificates" })) as Fields;
    assert.deepEqual(fields["controlPlane"], {
      localAPIEndpoint: { advertiseAddress: "10.0.0.7", bindPort: 6443 },
      certificateKey: joinDocumentPlaceholders.certificateKey,
    });
  });

  it("pass exactly the preflight checks that may fail", () => {
    const registration = (parse(renderJoinDocument(node, join)) as Fields)[
      "nodeRegistration"
    ] as Fields;
    assert.deepEqual(registration["ignorePreflightErrors"], ["Swap"]);
    const init = document("InitConfiguration")["nodeRegistration"] as Fields;
    assert.deepEqual(init["ignorePreflightErrors"], []);
  });
});
