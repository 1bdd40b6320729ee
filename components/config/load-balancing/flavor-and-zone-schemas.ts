import { doc, inputField, nonEmptyTextField } from "../../schema/fields.js";

/**
 * Returns the schemas of the arguments for a load balancer's flavor and zone.
 *
 * @param kind kind of the endpoint or ingress to which the load balancer belongs
 * @param otherwise sentence for the documentation that describes which traffic a change interrupts
 */
export const flavorAndZoneSchemas = (kind: string, otherwise: string) => ({
  flavorId: inputField(nonEmptyTextField("the ID of a flavor of Octavia"))
    .optional()
    .meta(
      doc(
        "in place",
        `With \`${kind}\`: ID of the Octavia flavor of the load balancer, which sets its size and whether it consists of two machines. ${otherwise}`,
        "the provider's default",
      ),
    ),
  zone: nonEmptyTextField("an availability zone of Octavia")
    .optional()
    .meta(
      doc(
        "in place",
        `With \`${kind}\`: availability zone of the load balancer, by Octavia's name. ${otherwise}`,
        "Octavia chooses",
      ),
    ),
});
