/**
 * Ties a process to the one that starts it: the kernel kills it when that one ends, also by
 * SIGKILL. `setpriv` sets the parent-death signal, then becomes the program with the same pid.
 */
export const tiedCommand = (
  program: string,
  args: readonly string[],
): readonly [program: string, args: readonly string[]] => ['setpriv', ['--pdeathsig', 'KILL', program, ...args]];
