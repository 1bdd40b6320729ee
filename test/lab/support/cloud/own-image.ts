import { serverImageId } from "../../../../packages/lab/cloud/offering.js";
import { inCloud } from "../machines/machines.js";

/** Second image with the same content as the lab's image. Nova has never used this image. */
export interface OwnImage {
  readonly id: string;
  remove(): Promise<void>;
}

const asAdministrator = (line: string): Promise<string> => inCloud(`. /root/openrc; ${line}`);

export async function ownImage(name: string): Promise<OwnImage> {
  const form = "--public --disk-format raw --container-format bare -f value -c id";
  const made = await asAdministrator(
    `openstack image create ${name} ${form} --file /srv/lab/images/${serverImageId}`,
  );
  const id = made.trim();
  return {
    id,
    remove: async () => {
      await asAdministrator(`openstack image delete ${id}`);
    },
  };
}
