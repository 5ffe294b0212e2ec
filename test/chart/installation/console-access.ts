/** Reads the console of the chart as a browser does, by the commands of docs/install.md. */
import type { SubnetList } from '../../../services/console/api/subnet.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { namespace } from '../render-chart.ts';
import type { ChartEnvironment } from './chart-environment.ts';

const url = `https://ipledger-console.${namespace}.svc`;

/** Signs in, and reads the Subnets. @param authority in base64 */
const commandsWith = (token: string, authority: string): string => `
  folder=$(mktemp -d)
  echo ${authority} | base64 -d >$folder/ca.crt
  call() {
    curl --silent --show-error --fail --max-time 10 --retry 20 --retry-connrefused --cacert $folder/ca.crt \
      --cookie $folder/cookies --cookie-jar $folder/cookies \
      --header "Origin: ${url}" --header 'X-Ipledger-Console: 1' "$@"
  }
  call --header 'Content-Type: application/json' --data '{"token": "${token}"}' ${url}/api/v1/session >&2
  call ${url}/api/v1/subnets
  rm -r $folder`;

/** Signs in as the person of docs/install.md on a worker, by the Service. Returns the Subnets. */
export async function readSubnets(environment: ChartEnvironment, worker: Worker): Promise<SubnetList> {
  const token = (await environment.follow('The console')).trim().split('\n').at(-1) ?? '';
  const { data } = (await environment.cluster.get(['secret', 'ipledger-console-tls', `--namespace=${namespace}`])) as {
    data: { 'ca.crt': string };
  };
  const { code, stdout, stderr } = await worker.machine.run(['sh', '-euc', commandsWith(token, data['ca.crt'])]);
  if (code !== 0) throw new Error(`the Service of the console: exit ${code}\n${stderr}`);
  return JSON.parse(stdout) as SubnetList;
}
