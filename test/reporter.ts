/**
 * Mocha's spec reporter with a summary as the last line of the log: "N passed, N failed", and ", N skipped" for skipped
 * tests.
 */
import Mocha from 'mocha';

/** Limit for a finished run to close its servers and sockets. */
const lingerMs = 30_000;

export default class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue();
    // At the exit of the process: servers that stop may print until then
    process.once('exit', () => {
      const { passes, failures, pending } = this.stats;
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
