/** cni-conf and cni-result: the real executable, with a played daemon behind it. */
import { type Case, CannotExecute, understandOnly } from '../case.ts';
import { type Fields, fieldsOf, type Json, textFieldsOf, textOf } from '../json.ts';
import { content, type DaemonAnswer, type PluginSeen, runPlugin, usualEnvironment } from '../world/plugin.ts';
import type { Area, Execute } from './area.ts';

const daemonSpoken =
  /^when (?:the )?daemon (?:answers (\d{3})\s*(.*)|(?:is )?(?:down|away|unreachable|not running).*)$/;

const configuration: Execute = async (the, { run }) => {
  understandOnly('given', the.given, ['stdin', 'env']);
  const env = { ...textFieldsOf(the.given['env']), ...textFieldsOf(the.when) };
  const ask = async (answer: ((path: string) => DaemonAnswer) | undefined): Promise<Fields> =>
    said(await runPlugin(run, { config: the.given['stdin'] ?? '', env, answer }));
  const plain = Object.keys(the.expect).some((key) => !daemonSpoken.test(key));
  const expected: Record<string, Json> = {};
  const got: Record<string, Json> = plain ? { ...(await ask(content)) } : {};
  // Of VERSION, whose answer is no result, the case names the fields themselves.
  const printed = fieldsOf(got['result']);
  for (const [key, wanted] of Object.entries(the.expect)) {
    const spoken = daemonSpoken.exec(key);
    if (!spoken) understandOnly('expectation', { [key]: wanted }, [...saidKeys, ...Object.keys(printed)]);
    if (!spoken && !saidKeys.includes(key)) got[key] = printed[key] ?? null;
    expected[key] = spoken ? asCompared(fieldsOf(wanted)) : (asCompared({ [key]: wanted })[key] ?? null);
    if (spoken)
      got[key] = await ask(spoken[1] === undefined ? undefined : answering(Number(spoken[1]), spoken[2] ?? ''));
  }
  return { expected, got };
};

/** A body as the case writes it: JSON, or the short form {error:E}. */
function answering(status: number, body: string): () => DaemonAnswer {
  const short = /^\{\s*error:\s*(.*?)\s*\}$/.exec(body)?.[1];
  if (short !== undefined) return () => ({ status, body: { error: short } });
  if (body === '') return () => ({ status, body: undefined });
  try {
    const parsed = JSON.parse(body) as Json;
    return () => ({ status, body: parsed });
  } catch {
    throw new CannotExecute(`daemon's answer ${body}: not understood`);
  }
}

const saidKeys = ['exit', 'request', 'socket', 'request path', 'requests', 'cniError', 'result'];

function said({ exit, printed, requests }: PluginSeen): Fields {
  const [first] = requests;
  const error = exit !== 0 && fieldsOf(printed)['code'] !== undefined;
  return {
    exit,
    request: first?.body ?? null,
    socket: first?.socket ?? null,
    'request path': first?.path ?? null,
    requests: requests.length,
    cniError: error ? (printed ?? null) : null,
    result: error ? null : (printed ?? null),
  };
}

/** `detailsContains` as what `compare` knows. */
function asCompared(expected: Fields): Fields {
  const { cniError } = expected;
  const { detailsContains, ...error } = fieldsOf(cniError);
  if (detailsContains === undefined) return expected;
  return { ...expected, cniError: { ...error, details: { regex: literally(textOf(detailsContains)) } } };
}

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const render: Execute = async (the, { run }) => {
  understandOnly('given', the.given, ['daemon response', 'cniVersion', 'env']);
  const { cniVersion = '1.0.0' } = the.given;
  const ipam = { type: 'kube-ovn', server_socket: '/daemon.sock', provider: 'macvlan.default' };
  const config = { cniVersion, name: 'macvlan', type: 'macvlan', ipam };
  const body = the.given['daemon response'] ?? null;
  const env = { ...usualEnvironment, ...textFieldsOf(the.given['env']) };
  const { printed, exit } = await runPlugin(run, { config, env, answer: () => ({ status: 200, body }) });
  const failedWith = exit === 0 ? {} : { cniError: printed ?? null };
  const result = exit === 0 ? fieldsOf(printed) : {};
  return { expected: dnsSpelled(asCompared(the.expect), the), got: { ...dnsSpelled(result, the), ...failedWith } };
};

/** An expected `dns` of {} is one that is empty, and not any. */
function dnsSpelled(result: Fields, { expect }: Case): Fields {
  return JSON.stringify(expect['dns']) === '{}' ? { ...result, dns: JSON.stringify(result['dns'] ?? {}) } : result;
}

export const pluginAreas: readonly Area[] = [
  { name: 'cni-conf', lane: 'plugin', forms: [{ when: 'CNI_COMMAND', execute: configuration }] },
];

/** The forms of area `cni-result` that need no cluster. */
export const renderForms = [{ when: 'render', execute: render }];
