/** `make certs`: an authority and a certificate for each part; CERTS, NODES, ALLOCATORS, OPERATORS and RENEW are listened to. */
import { relative } from 'node:path';
import { table } from '../../cli/table.ts';
import { makeCertificates } from './certificates.ts';
import { say } from './say.ts';
import { readBearers, readCertificateFolder } from './up/settings.ts';

/** Below this folder without its name. */
const shown = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
};

try {
  const folder = readCertificateFolder(process.env);
  const made = await makeCertificates({ folder, ...readBearers(process.env), renew: process.env['RENEW'] === '1' });
  const rows = made.map(({ bearer, state, files }) => [bearer, state, shown(files.cert)]);
  process.stdout.write(table(['BEARER', 'STATE', 'CERTIFICATE'], rows));
  console.log('\nThe key of each is beside it. Whoever has a ca.key can be anybody: keep those two elsewhere.');
} catch (error) {
  say(`certs: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
