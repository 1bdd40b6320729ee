/** What is asked of Octavia for a load balancer that the program itself makes (pure). */
import { doc, present } from "../arguments/values.js";

/**
 * Its size and its place, for the kind of way that has such a load balancer.
 *
 * @param otherwise what it costs to have another one
 */
export const octaviaChoices = (kind: string, otherwise: string) => ({
  flavorId: present("the ID of a flavor of Octavia")
    .optional()
    .meta(
      doc(
        "in place",
        `With \`${kind}\`: ID of the Octavia flavor of the load balancer, which says how large it is and whether there are two machines. ${otherwise}`,
        "the provider's own",
      ),
    ),
  zone: present("an availability zone of Octavia")
    .optional()
    .meta(
      doc(
        "in place",
        `With \`${kind}\`: availability zone of the load balancer, as Octavia calls it. ${otherwise}`,
        "Octavia chooses",
      ),
    ),
});
