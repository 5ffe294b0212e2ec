/** Version, revision and time of a build. Equal sources give equal values. */
import { execFileSync } from 'node:child_process';
import { version } from '../lib/process/version.ts';
import { root } from './bundle/bundle-programs.ts';

export interface Release {
  readonly version: string;
  /** Commit of the sources; '' outside of git. */
  readonly revision: string;
  /** Seconds since 1970: SOURCE_DATE_EPOCH (reproducible-builds.org), or the commit's time. */
  readonly createdAt: number;
}

export function readRelease(env: NodeJS.ProcessEnv): Release {
  const [revision = '', time = '0'] = git('log', '-1', '--format=%H %ct').split(' ');
  const epoch = env['SOURCE_DATE_EPOCH'] || time;
  if (!/^\d{1,11}$/.test(epoch)) throw new Error(`SOURCE_DATE_EPOCH is ${epoch}: set it to seconds since 1970`);
  return { version, revision, createdAt: Number(epoch) };
}

/** Runs git; '' without a repository, as in an archive of the sources. */
function git(...args: string[]): string {
  try {
    return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
