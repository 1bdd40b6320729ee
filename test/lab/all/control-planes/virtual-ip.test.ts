import { testControlPlanes } from "../../support/stack/control-planes.js";

describe("three control planes with a virtual IP, on the lab", function () {
  this.timeout(15 * 60_000);
  testControlPlanes("virtual-ip");
});
