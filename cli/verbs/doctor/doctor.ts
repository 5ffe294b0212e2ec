/** `ipledger doctor`: reports what is wrong with an installation, and what to do. */
import { type Command, Option } from 'commander';
import { pause } from '../../../lib/process/abortable.ts';
import { parseWholeNumber } from '../../../lib/process/options.ts';
import { readBundle } from '../../bundle/read-bundle.ts';
import type { Facts, Gap } from '../../installation/facts.ts';
import { gatherFacts } from '../../installation/gather-facts.ts';
import { addFactOptions, type FactOptions, factSourcesOf } from '../../program/fact-options.ts';
import { type Answer, formatCount, printAnswer } from '../../output/answer.ts';
import { joinNonEmpty } from '../../../lib/ledger-text/texts.ts';
import { escapeControlCharacters } from '../../output/control-characters.ts';
import { textColumns } from '../../output/table.ts';
import { exitStatus } from '../../cli-error.ts';
import { outputStyle, withAllocator } from '../../program/verb.ts';
import type { Finding } from './checks/finding.ts';
import { runChecks } from './checks/run-checks.ts';

const columns = textColumns('SEVERITY', 'WHERE', 'WHAT', 'REMEDY', 'DOCUMENT');
const lookAgainMs = 5_000;

interface DoctorOptions extends FactOptions {
  readonly wait: boolean;
  readonly timeout: number;
  readonly bundle?: string;
}

export function defineDoctor(verb: Command): void {
  addFactOptions(verb)
    .option('--wait', 'look again until the installation is healthy', false)
    .addOption(
      new Option('--timeout <seconds>', 'with --wait: give up after this time')
        .default(300)
        .argParser((text) => parseWholeNumber(text, 0, 99_999)),
    )
    .addOption(
      new Option('--bundle <file>', 'judge a support bundle of sysdump instead of an installation').conflicts('wait'),
    )
    .addHelpText(
      'after',
      `
Reads the allocators, the metrics of the programs (by port-forward), and the cluster that KUBECONFIG names. It changes nothing. It contains
what ipledger check and ipledger status report.

Exit status:
  0  healthy, as far as --skip lets it look
  ${exitStatus.disagreement}  findings
  ${exitStatus.notCompared}  no finding, and a part could not be looked at`,
    )
    .action(async (options: DoctorOptions) => {
      if (options.bundle !== undefined) {
        await print(createDiagnosis(await readBundle(options.bundle)), options);
        return;
      }
      await withAllocator(options, async (allocator, signal) => {
        const sources = {
          ...factSourcesOf(options, allocator, signal),
          ...(options.wait && { compareIf: (facts: Facts) => createDiagnosis(facts).status === 0 }),
        };
        const diagnose = async (): Promise<Diagnosis> => createDiagnosis(await gatherFacts(sources));
        const diagnosis = await (options.wait
          ? waitUntilHealthy(diagnose, options.timeout, signal, (text) => void process.stderr.write(text))
          : diagnose());
        await print(diagnosis, options);
      });
    });
}

export interface Diagnosis {
  readonly facts: Facts;
  readonly findings: readonly Finding[];
  readonly status: number;
}

export function createDiagnosis(facts: Facts): Diagnosis {
  const findings = runChecks(facts);
  const isSick = findings.some(isCounted);
  const status = isSick ? exitStatus.disagreement : facts.gaps.length > 0 ? exitStatus.notCompared : 0;
  return { facts, findings, status };
}

/** The last diagnosis, healthy or not. Reports each change of what it waits for. */
export async function waitUntilHealthy(
  diagnose: () => Promise<Diagnosis>,
  seconds: number,
  signal: AbortSignal,
  report: (text: string) => void,
): Promise<Diagnosis> {
  const until = performance.now() + seconds * 1_000;
  let reported = '';
  for (;;) {
    const diagnosis = await diagnose();
    const { gaps } = diagnosis.facts;
    if (diagnosis.status === 0 || gaps.some(({ isLasting }) => isLasting) || performance.now() + lookAgainMs > until)
      return diagnosis;
    const missing = [...diagnosis.findings.filter(isCounted).map(describeFinding), ...describeGaps(gaps)]
      .map((line) => `waiting: ${escapeControlCharacters(line)}\n`)
      .join('');
    if (missing !== reported) report(missing);
    reported = missing;
    await pause(lookAgainMs, signal);
    signal.throwIfAborted();
  }
}

const isCounted = ({ severity }: Finding): boolean => severity !== 'note';
const describeFinding = ({ severity, where, what }: Finding): string => `${severity}: ${where}: ${what}`;

/** Agents that do not answer can be thousands. */
const maxParts = 10;

/** A line for each reason. */
const describeGaps = (gaps: readonly Gap[]): string[] =>
  [...Map.groupBy(gaps, ({ reason }) => reason)].map(([reason, of]) => {
    const more = of.length > maxParts ? [`… (${of.length - maxParts} more)`] : [];
    return `not looked at: ${[...of.slice(0, maxParts).map(({ part }) => part), ...more].join(', ')}: ${reason}`;
  });

/** Nothing is called healthy without a look at the ledger and at the workloads. */
const isHealthy = ({ facts, status }: Diagnosis): boolean =>
  status === 0 && facts.status !== undefined && facts.workloads !== undefined;

export function summarize(diagnosis: Diagnosis): string {
  const { facts, findings } = diagnosis;
  const { gaps, skipped } = facts;
  const counted = findings.filter(isCounted);
  const verdict =
    counted.length > 0 ? formatCount(counted.length, 'finding') : isHealthy(diagnosis) ? 'healthy' : 'no finding';
  return joinNonEmpty(
    '; ',
    verdict,
    gaps.length > 0 ? `${formatCount(gaps.length, 'part')} could not be looked at` : '',
    skipped.length > 0 ? `skipped: ${skipped.join(', ')}` : '',
  );
}

async function print(diagnosis: Diagnosis, options: DoctorOptions): Promise<void> {
  process.exitCode = diagnosis.status;
  await printAnswer(outputStyle(options), createAnswer(diagnosis));
}

function createAnswer(diagnosis: Diagnosis): Answer {
  const { facts, findings } = diagnosis;
  const { gaps, skipped, gatheredAt } = facts;
  const rows = findings.map(({ severity, where, what, remedy, document }) => [severity, where, what, remedy, document]);
  const listing = { columns, rows };
  return {
    content: { healthy: isHealthy(diagnosis), gatheredAt, findings, gaps, skipped },
    table: () => formatDiagnosis(diagnosis),
    listing: () => listing,
  };
}

export const formatDiagnosis = (diagnosis: Diagnosis): string =>
  [
    ...diagnosis.findings.map(formatFinding),
    ...describeGaps(diagnosis.facts.gaps).map((line) => `${escapeControlCharacters(line)}\n`),
    `${summarize(diagnosis)}\n`,
  ].join('');

/** One finding for people: lines are shorter than those of a table of five columns. */
const formatFinding = (finding: Finding): string =>
  [describeFinding(finding), finding.remedy, `see ${finding.document}`]
    .map((line, index) => `${index === 0 ? '' : '  '}${escapeControlCharacters(line)}\n`)
    .join('');
