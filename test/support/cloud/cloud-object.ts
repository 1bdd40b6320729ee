import type { CloudObject } from "../../../openstack/inventory/inventory.js";

/** Returns an object of the inventory. Fields without a value are empty. */
export const object = (fields: Partial<CloudObject>): CloudObject => ({
  kind: "server",
  id: "1",
  name: "",
  description: "",
  tags: [],
  metadata: {},
  status: "",
  owner: "",
  device: "",
  host: "",
  network: "",
  created: "",
  members: [],
  rules: 0,
  gigabytes: 0,
  ...fields,
});
