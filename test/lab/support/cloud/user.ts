import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { administrator } from "./administrator.js";

const made = z.object({ user: z.object({ id: z.string() }) });
const known = z.object({ roles: z.array(z.object({ id: z.string(), name: z.string() })) });

/** User in the domain `Default` of the lab's Keystone. */
export interface LabUser {
  readonly name: string;
  readonly password: string;
  /** Changes the user's password. */
  readonly change: (password: string) => Promise<void>;
  readonly isThere: () => Promise<boolean>;
  /** Deletes the user. Keystone also deletes the user's application credentials. */
  readonly remove: () => Promise<void>;
}

/** Creates a user with these roles in the client's project. */
export async function newUser(
  { projectId }: CloudClient,
  name: string,
  roles: readonly string[],
): Promise<LabUser> {
  const admin = await administrator();
  const password = randomUUID();
  const user = { name: `${name}-${randomUUID()}`, password, domain_id: "default" };
  const { id } = made.parse(await admin.request("identity", "POST", "/users", { user })).user;
  const all = known.parse(await admin.request("identity", "GET", "/roles")).roles;
  for (const role of all.filter((one) => roles.includes(one.name)))
    await admin.request("identity", "PUT", `/projects/${projectId}/users/${id}/roles/${role.id}`);
  return {
    name: user.name,
    password,
    change: async (other) => {
      await admin.request("identity", "PATCH", `/users/${id}`, { user: { password: other } });
    },
    isThere: () =>
      admin.request("identity", "GET", `/users/${id}`).then(
        () => true,
        () => false,
      ),
    remove: async () => {
      await admin.request("identity", "DELETE", `/users/${id}`);
    },
  };
}
