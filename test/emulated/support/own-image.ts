import { inCloud } from "../../lab/support/machines/machines.js";

/** Copy of a virtual machine image with other hardware properties. */
export interface ImageCopy {
  readonly name: string;
  remove(): Promise<void>;
}

const asAdministrator = (line: string): Promise<string> => inCloud(`. /root/openrc; ${line}`);

/**
 * Copies the image `base` to a new image with another name and other hardware properties
 * (`hw_machine_type`, ...).
 */
export async function withHardware(
  base: string,
  name: string,
  properties: Readonly<Record<string, string>>,
): Promise<ImageCopy> {
  const kept = `openstack image show ${base} -f json -c properties`;
  const shown = JSON.parse(await asAdministrator(kept)) as { properties: Record<string, unknown> };
  const names = ["kernel_id", "ramdisk_id", "os_command_line", "os_distro", "os_version"];
  const all = [
    ...[...names, "os_admin_user"].map((one) => [one, String(shown.properties[one])] as const),
    ...Object.entries(properties),
  ];
  const words = all.map(([property, value]) => `--property '${property}=${value}'`).join(" ");
  const id = (await asAdministrator(`openstack image show ${base} -f value -c id`)).trim();
  const form = "--public --disk-format qcow2 --container-format bare -f value -c id";
  const made = await asAdministrator(
    `openstack image create ${name} ${form} ${words} --file /srv/lab/images/${id}`,
  );
  return {
    name,
    remove: async () => {
      await asAdministrator(`openstack image delete ${made.trim()}`);
    },
  };
}
