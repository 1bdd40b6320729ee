import type { CloudObject } from "../../cloud/inventory.js";

/** An object of the inventory with empty fields, save those given. */
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
