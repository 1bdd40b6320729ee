import assert from "node:assert/strict";
import {
  getCloudConfSettings,
  renderCloudConf,
  renderNodeConf,
  type CloudConf,
} from "../../../../components/addons/cloud-conf.js";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import { declaredKeys, knownKeys } from "../../../support/config/cloud-conf-keys.js";
import { smallest } from "../../../support/config/spec.js";
import { parseGcfg } from "./gcfg.js";
import { exampleCloud } from "./objects.js";

const conf = (written: object): CloudConf => {
  const result = parseClusterSpec({ ...smallest, ...written });
  assert.ok("spec" in result, JSON.stringify(result));
  return { ...exampleCloud, settings: getCloudConfSettings(result.spec) };
};
const sectionsOf = (written: object) => parseGcfg(renderCloudConf(conf(written)));
const problems = (written: object): readonly string[] => {
  const result = parseClusterSpec({ ...smallest, ...written });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

describe("cloud.conf settings", () => {
  it("cover every key of the release, each either offered or refused", () => {
    assert.deepEqual(knownKeys().sort(), declaredKeys().sort());
  });

  it("are empty by default, so that an existing cluster's file stays unchanged", () => {
    assert.equal(renderCloudConf(conf({})), renderCloudConf(exampleCloud));
    assert.equal(renderNodeConf(conf({}).settings ?? {}), undefined);
  });

  it("override the program's own values", () => {
    const parsed = sectionsOf({
      loadBalancer: { method: "LEAST_CONNECTIONS", monitorDelay: "1m", networkId: "other" },
      cloudController: { metadata: { searchOrder: "metadataService" } },
    });
    assert.equal(parsed["LoadBalancer"]?.["lb-method"], "LEAST_CONNECTIONS");
    assert.equal(parsed["LoadBalancer"]["monitor-delay"], "1m");
    assert.deepEqual(parsed["Metadata"], { "search-order": "metadataService" });
    // The machines' subnet does not belong to the other network.
    assert.equal(parsed["LoadBalancer"]["network-id"], "other");
    assert.equal(parsed["LoadBalancer"]["subnet-id"], undefined);
    assert.equal(parsed["LoadBalancer"]["member-subnet-id"], exampleCloud.subnetId);
  });

  it("render a section for each class, whose members stay on the machines", () => {
    const classes = { inside: { subnetId: "a" }, outside: { floatingSubnet: "public-*" } };
    const parsed = sectionsOf({ loadBalancer: { classes } });
    const members = { "member-subnet-id": exampleCloud.subnetId };
    assert.deepEqual(parsed['LoadBalancerClass "inside"'], { ...members, "subnet-id": "a" });
    assert.deepEqual(parsed['LoadBalancerClass "outside"'], {
      ...members,
      "floating-subnet": "public-*",
    });
  });

  it("render a line for each network and one for all ranges", () => {
    const networking = {
      internalNetworkName: ["one", "two"],
      addressSortOrder: ["10.0.0.0/8", "fd00::/8"],
    };
    const text = renderCloudConf(conf({ cloudController: { networking } }));
    assert.match(
      text,
      /\[Networking\]\ninternal-network-name = "one"\ninternal-network-name = "two"\n/,
    );
    assert.match(text, /address-sort-order = "10.0.0.0\/8,fd00::\/8"\n/);
  });

  it("name the router only if the cloud routes pods", () => {
    const routed = parseGcfg(renderCloudConf({ ...conf({}), routerId: "r" }));
    assert.deepEqual(routed["Route"], { "router-id": "r" });
    assert.equal(sectionsOf({})["Route"], undefined);
  });

  it("set the nodes' volume limit unless the user sets it, in the nodes' file only", () => {
    const { settings = {} } = conf({});
    const limits = (text = "") => parseGcfg(text)["BlockStorage"];
    assert.deepEqual(limits(renderNodeConf(settings, 24)), { "node-volume-attach-limit": "24" });
    const written = conf({ blockStorage: { nodeVolumeAttachLimit: 200 } }).settings ?? {};
    assert.deepEqual(limits(renderNodeConf(written, 24)), { "node-volume-attach-limit": "200" });
    assert.equal(sectionsOf({})["BlockStorage"], undefined);
  });

  it("render a nodes' file with the volume limit and without access to the cloud's API", () => {
    const { settings = {} } = conf({ blockStorage: { nodeVolumeAttachLimit: 20 } });
    const text = renderNodeConf(settings) ?? "";
    assert.deepEqual(parseGcfg(text), {
      Metadata: { "search-order": "configDrive,metadataService" },
      BlockStorage: { "node-volume-attach-limit": "20" },
    });
  });
});

describe("refused cloud.conf settings", () => {
  it("include keys that the program sets itself, with the reason", () => {
    assert.deepEqual(
      problems({
        loadBalancer: { manageSecurityGroups: true },
        cloudController: { global: { password: "x" }, route: { routerId: "r" } },
      }),
      [
        "cluster.loadBalancer: manageSecurityGroups puts security groups on the machines' ports, which are the program's; the node ports are open to load balancers anyway",
        "cluster.cloudController.global: password comes from the cloud and the credential that the program works with",
        "cluster.cloudController: route is not written: `podNetwork: cloud-routes` takes the cluster's own router",
      ],
    );
  });

  it("include a class in another network without a subnet, because the subnet of all balancers would win", () => {
    const classes = { elsewhere: { networkId: "n" }, complete: { networkId: "n", subnetId: "s" } };
    assert.deepEqual(problems({ loadBalancer: { classes } }), [
      "cluster.loadBalancer.classes.elsewhere.networkId: does not say which subnet of it; write subnetId, too",
    ]);
  });

  it("include misspelt keys, and the error lists the known ones", () => {
    const [found = ""] = problems({ loadBalancer: { floatingSubnetID: "x" } });
    assert.match(
      found,
      /^cluster.loadBalancer: does not know \["floatingSubnetID"\]; it has enabled, /,
    );
  });

  it("include values of another type", () => {
    assert.deepEqual(problems({ blockStorage: { nodeVolumeAttachLimit: 300 } }), [
      "cluster.blockStorage.nodeVolumeAttachLimit: is more than Cinder CSI accepts; write at most 256",
    ]);
    const [found] = problems({ loadBalancer: { monitorDelay: "5" } });
    assert.equal(
      found,
      'cluster.loadBalancer.monitorDelay: "5" is not a length of time; write one like 5s',
    );
  });
});

describe("cloud without load balancers", () => {
  const loadBalancer = { enabled: false };

  it("disables load balancers in the cloud controller", () => {
    assert.equal(sectionsOf({ loadBalancer })["LoadBalancer"]?.["enabled"], "false");
  });

  it("refuses an endpoint and samples that need a load balancer", () => {
    assert.deepEqual(problems({ loadBalancer, topology: "ha", samples: true }), [
      "cluster.endpoint: load-balancer needs Octavia, and loadBalancer.enabled is false; write kind: virtual-ip",
      "cluster.samples: the sample services are load balancers, and loadBalancer.enabled is false; write false",
    ]);
    assert.deepEqual(
      problems({ cloudController: { enabled: false }, topology: "ha", samples: true }),
      [
        "cluster.samples: the sample services are load balancers, and cloudController.enabled is false; write false",
      ],
    );
    const endpoint = { kind: "virtual-ip" };
    assert.deepEqual(problems({ loadBalancer, topology: "ha", endpoint }), []);
  });
});
