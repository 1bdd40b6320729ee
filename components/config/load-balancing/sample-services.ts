import type { z } from "zod";
import type { StringInput } from "../../kubernetes-objects/kubernetes-types.js";
import {
  ipv4AddressField,
  booleanField,
  doc,
  strictObject,
  inputField,
} from "../../schema/fields.js";
import { serviceAnnotationsSchema } from "./service-annotations.js";

export const sampleServicesSchema = strictObject({
  external: booleanField()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether one of the sample Services has a floating IP. `false` for a cloud in which floating IPs cannot be used.",
        "`true`",
      ),
    ),
  address: inputField(ipv4AddressField)
    .optional()
    .meta(
      doc(
        "in place",
        "A floating IP that you own, which that Service uses and releases again.",
        "a new one",
      ),
    ),
  annotations: serviceAnnotationsSchema(),
}).prefault({});

type Checked = z.output<typeof sampleServicesSchema>;
/** Settings of the sample Services. The address may become known only during the run. */
export type SampleServices = Omit<Checked, "address"> & {
  readonly address?: StringInput | undefined;
};
