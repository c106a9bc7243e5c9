import type { Reporter } from 'knip';

/** A reporter of knip that says how many files it looked at, so that its gate can fail when it saw none. */
const reportCount: Reporter = ({ counters }) => console.log(`Checked ${counters.processed} files`);

export default reportCount;
