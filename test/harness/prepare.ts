/** `make programs`: finds or builds every real program, so that nothing has to be waited for later. */
import { pluginNames, programNames } from './catalogue.ts';
import { findPlugins, findProgram } from './programs.ts';
import { say } from './say.ts';

try {
  // One after the other: builds take turns anyway, and the lines stay in order.
  for (const name of programNames) if (!pluginNames.includes(name)) await findProgram(name);
  await findPlugins();
} catch (error) {
  say(`programs: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
