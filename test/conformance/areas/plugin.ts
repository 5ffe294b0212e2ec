/** cni-conf and cni-result: the plugin's executable with a stub daemon. */
import { type Case, UnsupportedCaseError, rejectUnknownKeys } from '../case.ts';
import { type Fields, fieldsOf, type Json, textFieldsOf, textOf } from '../../harness/json.ts';
import {
  defaultResponse,
  type DaemonResponse,
  type PluginOutcome,
  runPlugin,
  defaultEnvironment,
} from '../environment/plugin-runner.ts';
import type { Area, Execute } from './area.ts';

const daemonKey = /^when (?:the )?daemon (?:answers (\d{3})\s*(.*)|(?:is )?(?:down|away|unreachable|not running).*)$/;

const configuration: Execute = async (testCase, { run }) => {
  rejectUnknownKeys('given', testCase.given, ['stdin', 'env']);
  const env = { ...textFieldsOf(testCase.given['env']), ...textFieldsOf(testCase.when) };
  const call = async (respond: ((path: string) => DaemonResponse) | undefined): Promise<Fields> =>
    outcomeFields(await runPlugin(run, { config: testCase.given['stdin'] ?? '', env, respond }));
  const hasPlainKeys = Object.keys(testCase.expect).some((key) => !daemonKey.test(key));
  const expected: Record<string, Json> = {};
  const got: Record<string, Json> = hasPlainKeys ? { ...(await call(defaultResponse)) } : {};
  // The response to VERSION is not a result; the case names its fields directly.
  const printed = fieldsOf(got['result']);
  for (const [key, value] of Object.entries(testCase.expect)) {
    const daemon = daemonKey.exec(key);
    if (!daemon) rejectUnknownKeys('expectation', { [key]: value }, [...outcomeKeys, ...Object.keys(printed)]);
    if (!daemon && !outcomeKeys.includes(key)) got[key] = printed[key] ?? null;
    expected[key] = daemon ? toComparable(fieldsOf(value)) : (toComparable({ [key]: value })[key] ?? null);
    if (daemon)
      got[key] = await call(daemon[1] === undefined ? undefined : responseOf(Number(daemon[1]), daemon[2] ?? ''));
  }
  return { expected, got };
};

/** Parses a body of a case: JSON, or the short form {error:E}. */
function responseOf(status: number, body: string): () => DaemonResponse {
  const short = /^\{\s*error:\s*(.*?)\s*\}$/.exec(body)?.[1];
  if (short !== undefined) return () => ({ status, body: { error: short } });
  if (body === '') return () => ({ status, body: undefined });
  try {
    const parsed = JSON.parse(body) as Json;
    return () => ({ status, body: parsed });
  } catch {
    throw new UnsupportedCaseError(`daemon's answer ${body}: unsupported`);
  }
}

const outcomeKeys = ['exit', 'request', 'socket', 'request path', 'requests', 'cniError', 'result'];

function outcomeFields({ exit, printed, requests }: PluginOutcome): Fields {
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

/** Converts `detailsContains` to a regular expression. */
function toComparable(expected: Fields): Fields {
  const { cniError } = expected;
  const { detailsContains, ...error } = fieldsOf(cniError);
  if (detailsContains === undefined) return expected;
  return { ...expected, cniError: { ...error, details: { regex: escapeRegExp(textOf(detailsContains)) } } };
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const render: Execute = async (testCase, { run }) => {
  rejectUnknownKeys('given', testCase.given, ['daemon response', 'cniVersion', 'env']);
  const { cniVersion = '1.0.0' } = testCase.given;
  const ipam = { type: 'kube-ovn', server_socket: '/daemon.sock', provider: 'macvlan.default' };
  const config = { cniVersion, name: 'macvlan', type: 'macvlan', ipam };
  const body = testCase.given['daemon response'] ?? null;
  const env = { ...defaultEnvironment, ...textFieldsOf(testCase.given['env']) };
  const { printed, exit } = await runPlugin(run, { config, env, respond: () => ({ status: 200, body }) });
  const failedWith = exit === 0 ? {} : { cniError: printed ?? null };
  const result = exit === 0 ? fieldsOf(printed) : {};
  return {
    expected: dnsAsText(toComparable(testCase.expect), testCase),
    got: { ...dnsAsText(result, testCase), ...failedWith },
  };
};

/** Turns an expected `dns` of {} into text: it means an empty object, not any object. */
function dnsAsText(result: Fields, { expect }: Case): Fields {
  return JSON.stringify(expect['dns']) === '{}' ? { ...result, dns: JSON.stringify(result['dns'] ?? {}) } : result;
}

export const pluginAreas: readonly Area[] = [
  { name: 'cni-conf', lane: 'plugin', forms: [{ when: 'CNI_COMMAND', execute: configuration }] },
];

/** The forms of area `cni-result` that need no cluster. */
export const renderForms = [{ when: 'render', execute: render }];
