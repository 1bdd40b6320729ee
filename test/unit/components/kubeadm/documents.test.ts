import { strict as assert } from "node:assert";
import { parse, parseAllDocuments } from "yaml";
import {
  initDocuments,
  joinDocument,
  tokenPlaceholder,
  type InitSettings,
  type Node,
} from "../../../../components/kubeadm/documents.js";
import { golden } from "../../../support/golden.js";

const node: Node = {
  name: "dev-control-plane-0",
  serverId: "0b1c2d3e-0000-4000-8000-000000000001",
  address: "10.0.0.7",
};

const settings: InitSettings = {
  clusterName: "dev",
  version: "1.36.3",
  imageRepository: "registry.k8s.io",
  pods: "10.244.0.0/16",
  services: "10.96.0.0/12",
  certificateAddresses: ["203.0.113.7"],
  ignorePreflightErrors: [],
  kubelet: {},
  kubeProxy: {},
};

const join = {
  endpoint: "10.0.0.7:6443",
  caCertHash: `sha256:${"0".repeat(64)}`,
  ignorePreflightErrors: ["Swap"],
};

type Fields = Record<string, unknown>;

const document = (kind: string, over: Partial<InitSettings> = {}): Fields => {
  const found = parseAllDocuments(initDocuments(node, { ...settings, ...over }))
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
  it("are the texts that a person reviewed", () => {
    golden("kubeadm-init.yaml", initDocuments(node, settings));
    golden(
      "kubeadm-join.yaml",
      joinDocument({ ...node, name: "dev-general-0", pool: "general" }, join),
    );
  });

  it("are all of the version that has lists of arguments", () => {
    for (const kind of ["InitConfiguration", "ClusterConfiguration"])
      assert.equal(document(kind)["apiVersion"], "kubeadm.k8s.io/v1beta4");
    assert.equal(
      (parse(joinDocument(node, join)) as Fields)["apiVersion"],
      "kubeadm.k8s.io/v1beta4",
    );
  });

  it("tell kubelet which server it runs on and which address is its own", () => {
    const expected = {
      "cloud-provider": "external",
      "provider-id": `openstack:///${node.serverId}`,
      "node-ip": "10.0.0.7",
    };
    assert.deepEqual(kubeletArguments(document("InitConfiguration")), expected);
    assert.deepEqual(kubeletArguments(parse(joinDocument(node, join)) as Fields), expected);
  });

  it("label the nodes of a pool", () => {
    const fields = parse(joinDocument({ ...node, pool: "general" }, join)) as Fields;
    assert.equal(kubeletArguments(fields)["node-labels"], "stackadm.io/pool=general");
  });

  it("put the inner and the outer address into the API's certificate", () => {
    assert.deepEqual(document("ClusterConfiguration")["apiServer"], {
      certSANs: ["10.0.0.7", "203.0.113.7"],
    });
    assert.equal(document("ClusterConfiguration")["controlPlaneEndpoint"], "10.0.0.7:6443");
  });

  it("leave no token behind that lives longer than a minute, and print none", () => {
    const init = document("InitConfiguration");
    assert.deepEqual(init["bootstrapTokens"], [{ ttl: "1m0s", description: "kubeadm init" }]);
    assert.deepEqual(init["skipPhases"], ["show-join-command"]);
  });

  it("give no flag to the API server that it no longer knows", () => {
    assert.doesNotMatch(initDocuments(node, settings), /apiServer:[\s\S]*cloud-provider/);
  });

  it("name an image repository only where the site has one", () => {
    assert.equal(document("ClusterConfiguration")["imageRepository"], undefined);
    const own = document("ClusterConfiguration", { imageRepository: "mirror.example/k8s" });
    assert.equal(own["imageRepository"], "mirror.example/k8s");
  });

  it("let the site's settings of kubelet and kube-proxy win", () => {
    const kubelet = { cgroupDriver: "cgroupfs", failCgroupV1: false };
    const kubeProxy = { mode: "iptables", conntrack: { maxPerCore: 0 } };
    const found = document("KubeletConfiguration", { kubelet });
    assert.deepEqual([found["cgroupDriver"], found["failCgroupV1"]], ["cgroupfs", false]);
    assert.deepEqual(document("KubeProxyConfiguration", { kubeProxy })["conntrack"], {
      maxPerCore: 0,
    });
    assert.equal(document("KubeletConfiguration")["cgroupDriver"], "systemd");
  });

  it("pin the cluster's authority in a join, and leave the token to be minted", () => {
    assert.deepEqual((parse(joinDocument(node, join)) as Fields)["discovery"], {
      bootstrapToken: {
        apiServerEndpoint: "10.0.0.7:6443",
        token: tokenPlaceholder,
        caCertHashes: [join.caCertHash],
      },
    });
  });

  it("pass on which preflight checks may fail, and only those", () => {
    const registration = (parse(joinDocument(node, join)) as Fields)["nodeRegistration"] as Fields;
    assert.deepEqual(registration["ignorePreflightErrors"], ["Swap"]);
    const init = document("InitConfiguration")["nodeRegistration"] as Fields;
    assert.deepEqual(init["ignorePreflightErrors"], []);
  });
});
