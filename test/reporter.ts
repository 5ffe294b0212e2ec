/**
 * Mocha's spec reporter with one more line, the very last of the run: "N passed, N failed", and ", N skipped" when some
 * were. Whoever looks only at the end of a log knows how it went.
 */
import Mocha from 'mocha';

/** How long a finished run may take to let go of its servers and sockets. */
const lingerMs = 30_000;

export default class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue();
    // As the process exits, so that nothing that is still being stopped prints behind it
    process.once('exit', () => {
      const { passes, failures, pending } = this.stats;
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
    });
    setTimeout(() => this.#endLingering(), lingerMs).unref();
  }

  /** A spec that leaves something open would keep the run from ending: this fails it instead, and says what is open. */
  #endLingering(): void {
    const open = process.getActiveResourcesInfo().join(', ');
    console.error(
      `a suite does not stop what it started: still open ${lingerMs / 1000} s after the last test: ${open}`,
    );
    this.stats.failures++;
    process.on('exit', () => (process.exitCode = 1)); // behind mocha's own, which sets the number of failures
    process.exit();
  }
}
