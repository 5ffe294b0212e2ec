/** The options of the console. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import { insecureOption } from '../../lib/grpc/server/insecure.ts';
import { allocatorOption, healthListenOption } from '../../lib/process/options.ts';

export interface ConsoleOptions {
  readonly allocator: string;
  readonly readModel: string;
  readonly listen: string;
  readonly web: string;
  readonly runbooks: string;
  readonly open?: boolean;
  readonly httpsCert?: string;
  readonly httpsKey?: string;
  readonly insecure?: boolean;
  readonly healthListen: string;
}

/** The places of the runbooks: beside the bundled program, or in the sources. */
const bundled = join(import.meta.dirname, 'runbooks.md');
const source = join(import.meta.dirname, '../../docs/runbooks.md');
const runbooks = [bundled, source].find(existsSync) ?? bundled;

export const consoleOptions = (): Option[] => [
  allocatorOption().default('127.0.0.1:7411'),
  new Option('--read-model <host:port>', 'address of the read model')
    .env('IPLEDGER_READ_MODEL')
    .default('127.0.0.1:7412'),
  new Option('--listen <host:port>', 'address for browsers').env('IPLEDGER_LISTEN').default('127.0.0.1:7480'),
  new Option('--https-cert <file>', 'certificate for browsers; without it, that of IPLEDGER_TLS_CERT').env(
    'IPLEDGER_HTTPS_CERT',
  ),
  new Option('--https-key <file>', 'its key').env('IPLEDGER_HTTPS_KEY'),
  new Option('--open', 'read-only and without sign-in, on loopback only (env: IPLEDGER_CONSOLE_OPEN=1)'),
  new Option('--web <folder>', 'the pages for browsers')
    .env('IPLEDGER_CONSOLE_WEB')
    .default(join(import.meta.dirname, 'console-web')),
  new Option('--runbooks <file>', 'docs/runbooks.md, which has the remedies of alarms')
    .env('IPLEDGER_CONSOLE_RUNBOOKS')
    .default(runbooks),
  insecureOption(),
  healthListenOption(),
];
