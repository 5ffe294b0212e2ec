/**
 * Mocha's spec reporter with a summary as the last lines of the log: one line for each failed test,
 * and "N passed, N failed", with ", N skipped" for skipped tests.
 */
import { relative } from 'node:path';
import Mocha from 'mocha';

type FailedTest = Pick<Mocha.Test, 'file' | 'err'> & { fullTitle(): string };

/** The time in which a finished run must close its servers and sockets. */
const lingerMs = 30_000;

export default class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue();
    // The summary is printed at the exit of the process: servers that stop may print until then
    process.once('exit', () => {
      const { passes, failures, pending } = this.stats;
      for (const failed of this.failures) console.log(formatFailure(failed));
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
    });
    setTimeout(() => this.#endLingering(), lingerMs).unref();
  }

  /** Fails a run that does not end because a spec left something open, and reports what is open. */
  #endLingering(): void {
    const open = process.getActiveResourcesInfo().join(', ');
    console.error(
      `a spec file does not stop what it started: still open ${lingerMs / 1000} s after the last test: ${open}`,
    );
    this.stats.failures++;
    process.on('exit', () => (process.exitCode = 1)); // after mocha's handler, which sets the number of failures
    process.exit();
  }
}

const maxMessageLength = 200;

/**
 * Formats a failure: file, title and first line of the message. With many failures, the complete
 * messages above may be out of sight.
 */
function formatFailure(test: FailedTest): string {
  const message = (test.err?.message ?? '').split('\n')[0]?.slice(0, maxMessageLength) ?? '';
  return `failed: ${relative(process.cwd(), test.file ?? '')} › ${test.fullTitle()} › ${message}`;
}
