import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { placeholderSecrets } from "../../cloud/secrets.js";
import {
  getAdminCloudName,
  getLabFacts,
  renderClouds,
  renderSiteFile,
  writeCloudsFiles,
} from "../../facts.js";
import { getLabPaths, readLabSettings, type LabPaths } from "../../settings.js";

const settings = readLabSettings({});

describe("lab facts", () => {
  let folder = "";
  let paths: LabPaths;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lab-facts-"));
    paths = {
      ...getLabPaths(),
      state: folder,
      cloudsFile: join(folder, "lab", "clouds.yaml"),
      adminCloudsFile: join(folder, "lab", "admin-clouds.yaml"),
      authorityFile: join(folder, "lab", "ca.crt"),
      siteFile: join(folder, "lab", "site.yaml"),
    };
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("contain the expected names of the tenant's cloud", () => {
    const facts = getLabFacts(settings, paths);
    assert.equal(facts.cloud, "stackadm-lab");
    assert.equal(facts.tlsCloud, "stackadm-lab-tls");
    assert.equal(facts.container, "stackadm-lab");
    assert.equal(getAdminCloudName(settings), "stackadm-lab-admin");
    assert.equal(facts.siteFile, paths.siteFile);
  });

  it("render a clouds.yaml that OpenStack clients can read", () => {
    const user = { cloud: "stackadm-lab", name: "demo", password: "p: # '\"" };
    const { clouds } = parse(renderClouds(settings, user, "/ca.crt")) as {
      clouds: Record<string, Record<string, unknown>>;
    };
    assert.deepEqual(clouds["stackadm-lab"]?.auth, {
      auth_url: "http://172.29.0.2:5000/v3",
      username: "demo",
      password: "p: # '\"",
      project_name: "demo",
      user_domain_name: "Default",
      project_domain_name: "Default",
    });
    assert.equal(clouds["stackadm-lab"]["region_name"], "lab");
    assert.equal("cacert" in clouds["stackadm-lab"], false);
  });

  it("render the same cloud with TLS: another address and region, and the authority", () => {
    const user = { cloud: "stackadm-lab", name: "demo", password: "p" };
    const { clouds } = parse(renderClouds(settings, user, "/state/ca.crt")) as {
      clouds: Record<string, { auth: object }>;
    };
    const plain = clouds["stackadm-lab"];
    assert.deepEqual(clouds["stackadm-lab-tls"], {
      ...plain,
      auth: { ...plain?.auth, auth_url: "https://172.29.0.2:15000/v3" },
      region_name: "lab-tls",
      cacert: "/state/ca.crt",
    });
  });

  it("are written to private files, the administrator's separate from the tenant's", async () => {
    writeCloudsFiles(settings, paths, {
      ...placeholderSecrets,
      admin: "admin-word",
      demo: "demo-word",
      tls: { ...placeholderSecrets.tls, authority: "authority-text", privateKey: "key-text" },
    });
    for (const file of [paths.cloudsFile, paths.adminCloudsFile, paths.authorityFile]) {
      assert.equal((await stat(file)).mode & 0o777, 0o600);
    }
    const tenantText = await readFile(paths.cloudsFile, "utf8");
    assert.match(tenantText, /demo-word/);
    assert.doesNotMatch(tenantText, /admin/);
    assert.match(await readFile(paths.adminCloudsFile, "utf8"), /admin-word/);
    assert.equal(await readFile(paths.authorityFile, "utf8"), "authority-text");
    assert.ok(tenantText.includes(`cacert: ${paths.authorityFile}`));
  });

  const keys = { kubernetes: "A".repeat(40), containerd: "1".repeat(40) };
  const packages = {
    keyFingerprint: keys.kubernetes,
    containerd: { keyFingerprint: keys.containerd },
  };

  it("render site defaults with only the signing keys and the settings for containers", () => {
    assert.deepEqual(parse(renderSiteFile(keys)), {
      kubernetes: {
        packages,
        kubelet: { failCgroupV1: false, cgroupDriver: "cgroupfs" },
        kubeProxy: { conntrack: { maxPerCore: 0 } },
        ignorePreflightErrors: [
          "SystemVerification",
          "FileContent--proc-sys-net-bridge-bridge-nf-call-iptables",
          "Swap",
          "NumCPU",
          "Mem",
        ],
      },
      ssh: { bootMinutes: 3 },
    });
  });

  it("render site defaults with only the signing keys for machines with a kernel", () => {
    assert.deepEqual(parse(renderSiteFile(keys, { containers: false })), {
      kubernetes: { packages },
    });
  });
});
