/**
 * Our engines against well-known tools, each with one core for the generator and one for the server.
 * Arguments: names of contests or parts of them; all by default.
 */
import { ensureDebianPackages } from '../scripts/debian-packages.ts';
import { type Contest, hold } from './dataplane-contest.ts';
import { packetContests } from './dataplane-packets.ts';
import { replayContests } from './dataplane-replay.ts';
import { socketContests } from './dataplane-sockets.ts';
import { stackContests } from './dataplane-stack.ts';
import { takePriority } from './priority.ts';
import { type Row, report } from './report.ts';

const contests: readonly Contest[] = [...socketContests, ...packetContests, ...replayContests, ...stackContests];

ensureDebianPackages();
takePriority();
const wanted = process.argv.slice(2);
const rows: Row[] = [];
for (const contest of contests) {
  if (wanted.length > 0 && !wanted.some((part) => contest.name.includes(part))) continue;
  rows.push(...(await hold(contest)));
}
const isFine = report(rows);
process.exitCode = isFine && rows.length > 0 ? 0 : 1;
