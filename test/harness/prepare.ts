/**
 * `make programs`: finds or builds the programs, so that no test waits for a build. An argument
 * names the make target whose own programs are built, too.
 */
import { pluginNames, programCatalog, type ProgramEntry, programNames } from './programs/program-catalog.ts';
import { findPrograms } from './programs/find-program.ts';
import { printProgress } from './progress.ts';

const target = process.argv[2];
const isNeeded = ({ onlyFor }: ProgramEntry): boolean => onlyFor === undefined || onlyFor === target;
const needed = programNames.filter((name) => !pluginNames.includes(name) && isNeeded(programCatalog[name]));
try {
  await findPrograms([...needed, 'plugins']);
} catch (error) {
  printProgress(`programs: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
