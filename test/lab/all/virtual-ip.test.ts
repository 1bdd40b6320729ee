import { testControlPlanes } from "../support/control-planes.js";

describe("three control planes with a virtual IP, on the lab", function () {
  this.timeout(15 * 60_000);
  testControlPlanes("virtual-ip");
});
