import { z } from "zod";
import { record } from "../../arguments/values.js";

export const cloudRoutesOptions = record({ kind: z.literal("cloud-routes") });
