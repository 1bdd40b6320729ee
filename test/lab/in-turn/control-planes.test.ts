import { testControlPlanes } from "../support/stack/control-planes.js";

describe("three control planes behind a load balancer, on the lab", function () {
  this.timeout(15 * 60_000);
  testControlPlanes("load-balancer");
});
