import { join } from "node:path";
import { listCloudFiles } from "../../cloud/files.js";
import { placeholderSecrets } from "../../cloud/secrets.js";
import { renderClouds, renderSiteFile } from "../../facts.js";
import { getPodmanRunArguments } from "../../host/container.js";
import { listFirewallCommands, listLinkCommands } from "../../host/network-plan.js";
import { readLabSettings } from "../../settings.js";
import { goldenIn } from "../../../../test/support/golden.js";

const golden = goldenIn(join(__dirname, "../golden"));
const settings = readLabSettings({});

/** Configuration files of the cloud's services that are compared with golden files. */
const reviewed = [
  ...["nova/nova.conf", "neutron/neutron.conf", "neutron/plugins/ml2/ml2_conf.ini"],
  ...["neutron/plugins/ml2/linuxbridge_agent.ini", "neutron/dhcp_agent.ini"],
  ...["cinder/cinder.conf", "octavia/octavia.conf", "keystone/keystone.conf"],
  ...["glance/glance-api.conf", "placement/placement.conf", "barbican/barbican.conf"],
  ...["lab/offering.json", "nginx/conf.d/lab-tls.conf", "nginx/conf.d/lab-front.conf"],
  ...["systemd/system/os-nova-api.service", "systemd/system/os-nova-compute-zone-a.service"],
];

describe("reviewed files of the lab", () => {
  for (const { path, content } of listCloudFiles({ settings, secrets: placeholderSecrets })) {
    const name = path.replace(/^\/etc\//, "");
    if (!reviewed.includes(name)) continue;
    it(`include ${path}`, () => {
      // The file does not end with .json, because Prettier would reformat it.
      golden(`cloud/${(name.split("/").at(-1) ?? name).replace(".json", ".txt")}`, content);
    });
  }

  it("include clouds.yaml for clients and site.yaml for stacks", () => {
    const user = { cloud: "stackadm-lab", name: "demo", password: "x" };
    golden("clouds.yaml", renderClouds(settings, user, "<state>/ca.crt"));
    const keys = { kubernetes: "0123456789".repeat(4), containerd: "9876543210".repeat(4) };
    golden("site.yaml", renderSiteFile(keys));
    golden("site-of-kernels.yaml", renderSiteFile(keys, { containers: false }));
  });

  it("list exactly the changes on the host", () => {
    const mounts = { "<drivers>": "/opt/lab", "<site>": "/srv/site", "<front>": "/srv/front" };
    const writableMounts = { "<mirrored>": "/var/cache/lab-front" };
    const commands = [
      ...listLinkCommands(settings),
      ...listFirewallCommands(settings),
      [
        "podman",
        ...getPodmanRunArguments({ settings, root: "<store>/running", mounts, writableMounts }),
      ].filter(
        // these two arguments depend on whether systemd manages the host
        (word, index, all) => word !== "--cgroup-parent" && all[index - 1] !== "--cgroup-parent",
      ),
    ];
    golden("host-commands.txt", commands.map((words) => `${words.join(" ")}\n`).join(""));
  });
});
