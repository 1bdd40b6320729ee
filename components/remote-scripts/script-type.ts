/** Type of the resources that run scripts on machines. */
export const scriptType = "command:remote:Command";

/** Type of the resources that copy scripts to machines. */
export const copyType = "command:remote:CopyToRemote";

/**
 * Value in place of the command in the state of a script that did not finish: the next run
 * finds a difference and runs the script.
 */
export const unfinishedCommand = "did not come to its end";
