import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { managementPorts } from "../../../cloud/configuration/common.js";
import { listCloudLinks } from "../../../cloud/files.js";
import { listExpectedWorkers } from "../../../cloud/readiness.js";
import {
  maskedUnits,
  renderUnit,
  listOpenStackServices,
  getUnitName,
} from "../../../cloud/units.js";
import { readLabSettings } from "../../../settings.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";

const settings = readLabSettings({});
const all = listOpenStackServices(settings);
const find = (name: string) => {
  const service = all.find((candidate) => candidate.name === name);
  assert.ok(service, `no service ${name}`);
  return service;
};

describe("OpenStack units", () => {
  it("contain every service once", () => {
    const names = all.map(getUnitName);
    assert.deepEqual(names, [...new Set(names)]);
    for (const name of names) assert.match(name, /^os-[a-z0-9-]+\.service$/);
  });

  it("start only after the ports that they call listen", () => {
    assert.ok(find("keystone").needs.includes(managementPorts.database));
    assert.ok(find("nova-api").needs.includes(managementPorts.bus));
    for (const name of ["l3", "dhcp", "metadata", "linuxbridge"]) {
      assert.ok(find(`neutron-${name}`).needs.includes(managementPorts.network), name);
    }
    for (const { name } of settings.zones) {
      const { needs } = find(`nova-compute-${name}`);
      for (const port of [
        managementPorts.placement,
        managementPorts.compute,
        managementPorts.network,
      ]) {
        assert.ok(needs.includes(port), `${name} ${port}`);
      }
    }
  });

  it("never wait for their own port", () => {
    const own = {
      keystone: managementPorts.identity,
      placement: managementPorts.placement,
      "neutron-server": managementPorts.network,
      "nova-api": managementPorts.compute,
      glance: managementPorts.image,
      "cinder-api": managementPorts.volume,
      "octavia-api": managementPorts.loadBalancer,
      barbican: managementPorts.secrets,
    };
    for (const [name, port] of Object.entries(own)) assert.ok(!find(name).needs.includes(port));
  });

  it("make a web service fail if its application does not load", () => {
    for (const name of ["keystone", "placement", "octavia-api", "barbican"]) {
      assert.match(find(name).command, /--need-app/);
      assert.match(find(name).command, /--http-socket 172\.29\.0\.2:\d+/);
    }
  });

  it("include one nova-compute per zone with that zone's configuration", () => {
    for (const { name } of nonEmpty(settings.zones)) {
      assert.match(
        find(`nova-compute-${name}`).command,
        new RegExp(`nova-compute-${name}\\.conf$`),
      );
    }
  });

  it("keep servers and proxies running during a restart of their agent", () => {
    for (const name of ["neutron-dhcp", "neutron-l3", "nova-compute-zone-a"]) {
      assert.match(renderUnit(find(name)), /^KillMode=process$/m);
    }
    assert.match(renderUnit(find("nova-api")), /^KillMode=mixed$/m);
  });

  it("limit the times of start and stop, and set the drivers' path", () => {
    for (const service of nonEmpty(all)) {
      const text = renderUnit(service);
      assert.match(text, /^TimeoutStartSec=\d+$/m);
      assert.match(text, /^TimeoutStopSec=1?\d$/m);
      assert.match(text, /^Environment=PYTHONPATH=\/opt\/lab /m);
      assert.match(text, /^ExecStartPre=\/usr\/local\/lib\/lab\/wait-for-ports\.sh( \d+)+$/m);
    }
  });

  it("mask units that would change kernel settings or host devices", () => {
    for (const unit of ["systemd-udevd.service", "systemd-sysctl.service", "apt-daily.timer"]) {
      assert.ok(maskedUnits.includes(unit), unit);
      const link = listCloudLinks().find(({ path }) => path.endsWith(`/${unit}`));
      assert.equal(link?.target, "/dev/null");
    }
  });

  it("are not masked themselves", () => {
    for (const service of nonEmpty(all)) assert.ok(!maskedUnits.includes(getUnitName(service)));
  });

  it("include a unit for every worker that must report", () => {
    const names = all.map(({ name }) => name);
    const workers = listExpectedWorkers(settings).filter((name) => !name.startsWith("backend "));
    for (const worker of nonEmpty(workers)) {
      const [binary = "", host = ""] = worker.split(" ");
      const zone = settings.zones.find((candidate) => candidate.host === host);
      const wanted = [binary, binary.replace(/-agent$/, ""), `${binary}-${zone?.name ?? ""}`];
      assert.ok(
        wanted.some((name) => names.includes(name)),
        worker,
      );
    }
  });
});

describe("lab/cloud scripts", () => {
  const text = (name: string) => readFileSync(`packages/lab/cloud/${name}`, "utf8");

  it("take no secret from the command line", () => {
    assert.match(text("first-boot.sh"), /\. \/etc\/lab\/cloud\.env/);
    assert.ok(!/--bootstrap-password/.test(text("first-boot.sh")));
  });

  it("stop at the first failure", () => {
    assert.match(text("first-boot.sh"), /^set -Eeuo pipefail$/m);
    assert.match(text("wait-for-ports.sh"), /^set -euo pipefail$/m);
  });

  it("limit every wait", () => {
    assert.match(text("bootstrap.py"), /deadline/);
    assert.match(text("first-boot.sh"), /wait_for \d+ /);
  });
});
