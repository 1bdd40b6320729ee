import { z } from "zod";
import { record } from "../../schema/fields.js";

export const cloudRoutesOptions = record({ kind: z.literal("cloud-routes") });
