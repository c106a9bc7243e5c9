/** Exit codes of every command; 64 to 78 as in `sysexits.h`, those of `run` as k6 numbers its own. */
export const exitCodes = {
  ok: 0,
  refused: 1,
  usage: 64,
  unreachable: 69,
  denied: 77,
  runFailed: 97,
  inconclusive: 98,
  thresholdsFailed: 99,
  interrupted: 130,
} as const;

export const exitCodeHelp = `Exit codes:
  0    done; for run: passed, or finished without thresholds
  1    the controller refused the request
  64   the command line is wrong
  69   the controller cannot be reached
  77   not signed in, or not permitted
  97   the run failed, or was stopped before it had a verdict
  98   the verdict is inconclusive
  99   a threshold failed
  130  interrupted; run stops its run first`;

/** An invalid command line; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
